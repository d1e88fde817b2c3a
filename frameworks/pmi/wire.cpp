// SPDX-License-Identifier: BSD-3-Clause
// The codec of PMI-1 and PMI-2. Layer: framework. See docs/design/pmi.md.
//
// Hard here: input may be hostile and may come one byte at a time. Bytes are scanned once (scanned_ remembers
// how far), a message that outgrows its limit fails before it is complete, and views are made only of
// complete messages.

#include "frameworks/pmi/wire.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/expects.hpp"

namespace starling::pmi::wire {
namespace {

constexpr std::string_view kLineStart = "cmd=";
constexpr std::string_view kLinesStart = "mcmd=";
constexpr std::string_view kLinesEnd = "endcmd";
constexpr std::size_t kLengthBytes = 6;
constexpr std::size_t kMaxFrame = 999'999;
constexpr char kHex[] = "0123456789ABCDEF";

std::string at_byte(std::uint64_t offset, std::string_view rule) {
  return "byte " + std::to_string(offset) + ": " + std::string(rule);
}

bool plain_byte(char byte) noexcept { return byte != ' ' && byte != '\n' && byte != '\0'; }

/// The length that stands before a frame: digits with spaces before or after them, not between.
std::optional<std::size_t> frame_length(std::string_view text) noexcept {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  std::size_t length = 0;
  const auto [stop, code] = std::from_chars(text.data() + begin, text.data() + end, length);
  if (code != std::errc{} || stop != text.data() + end) return std::nullopt;
  if (text.find_first_not_of(' ', end) != std::string_view::npos) return std::nullopt;
  return length;
}

int hex_digit(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::optional<std::string_view> Message::find(std::string_view key) const noexcept {
  for (const Field& field : fields_) {
    if (field.key == key) return field.value;
  }
  return std::nullopt;
}

Unexpected Message::broken(std::string_view rule) const {
  return fail(Errc::bad_input, "PMI message",
              at_byte(offset_, "cmd=" + std::string(name_) + ": " + std::string(rule)));
}

Result<std::string_view> Message::text(std::string_view key) const {
  const auto value = find(key);
  if (!value) return broken("the field " + std::string(key) + "= is missing");
  if (value->empty()) return broken("the field " + std::string(key) + "= is empty");
  return *value;
}

Result<std::int64_t> Message::integer(std::string_view key, std::int64_t min, std::int64_t max) const {
  auto value = text(key);
  if (!value) return fail(std::move(value).error());
  std::int64_t number = 0;
  const char* const end = value->data() + value->size();
  const auto [stop, code] = std::from_chars(value->data(), end, number);
  if (code != std::errc{} || stop != end || number < min || number > max) {
    return broken("the field " + std::string(key) + "= must be a whole number from " + std::to_string(min) +
                  " to " + std::to_string(max));
  }
  return number;
}

void Reader::append(std::string_view bytes) {
  if (failed_) return;
  if (used_ > 0) {
    buffer_.erase(0, used_);
    consumed_ += used_;
    scanned_ -= used_;
    line_start_ -= used_;
    used_ = 0;
  }
  buffer_.append(bytes);
}

Unexpected Reader::broken(std::size_t at, std::string_view rule) {
  failed_ = Error{Errc::bad_input, "PMI message", at_byte(consumed_ + at, rule)};
  return fail(*failed_);
}

Result<std::optional<std::size_t>> Reader::end_of_lines(bool one) {
  for (;;) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    const std::size_t line_end = newline == std::string::npos ? buffer_.size() : newline;
    if (line_end - line_start_ >= limits_.line_bytes) {
      return broken(line_start_, "a line is longer than " + std::to_string(limits_.line_bytes) + " bytes");
    }
    if (!one && line_end - used_ >= limits_.command_bytes) {
      return broken(used_, "a command is longer than " + std::to_string(limits_.command_bytes) + " bytes");
    }
    scanned_ = newline == std::string::npos ? line_end : newline + 1;
    if (newline == std::string::npos) return std::optional<std::size_t>{};
    const std::string_view line = std::string_view(buffer_).substr(line_start_, newline - line_start_);
    line_start_ = scanned_;
    if (one || line == kLinesEnd) return std::optional<std::size_t>(scanned_);
  }
}

Result<std::optional<std::size_t>> Reader::end_of_frame() {
  const std::string_view waiting = std::string_view(buffer_).substr(used_);
  const auto none = [](char byte) { return byte != ' ' && (byte < '0' || byte > '9'); };
  const std::string_view digits = waiting.substr(0, kLengthBytes);
  if (std::any_of(digits.begin(), digits.end(), none))
    return broken(used_, "a message starts with \"cmd=\", \"mcmd=\" or a length of six characters");
  if (waiting.size() < kLengthBytes) return std::optional<std::size_t>{};
  const auto length = frame_length(digits);
  if (!length || *length == 0)
    return broken(used_,
                  "the length of a frame is \"" + std::string(digits) + "\", which is no number above 0");
  if (*length > limits_.command_bytes)
    return broken(used_, "a frame is longer than " + std::to_string(limits_.command_bytes) + " bytes");
  const std::string_view body = waiting.substr(kLengthBytes, *length);
  const std::size_t known = std::min(body.size(), kLineStart.size());
  if (body.substr(0, known) != kLineStart.substr(0, known))
    return broken(used_ + kLengthBytes, "a frame starts with \"cmd=\"");
  if (body.size() < *length) return std::optional<std::size_t>{};
  return std::optional<std::size_t>(used_ + kLengthBytes + *length);
}

Result<std::optional<Message>> Reader::next() {
  if (failed_) return fail(*failed_);
  if (used_ == buffer_.size()) return std::optional<Message>{};
  const std::string_view waiting = std::string_view(buffer_).substr(used_);
  const auto may_start_with = [waiting](std::string_view start) {
    const std::size_t known = std::min(waiting.size(), start.size());
    return waiting.substr(0, known) == start.substr(0, known);
  };
  const bool lines = may_start_with(kLinesStart);
  const Form form = lines ? Form::lines : may_start_with(kLineStart) ? Form::line : Form::frame;
  auto end = form == Form::frame ? end_of_frame() : end_of_lines(!lines);
  if (!end) return fail(std::move(end).error());
  if (!*end) return std::optional<Message>{};
  const std::string_view text = waiting.substr(0, **end - used_);
  auto message = form == Form::frame ? parse_frame(used_ + kLengthBytes, **end)
                 : lines             ? parse_lines(text)
                                     : parse_line(text.substr(0, text.size() - 1));
  if (!message) {
    failed_ = std::move(message).error();
    return fail(*failed_);
  }
  message->offset_ = consumed_ + used_;
  message->form_ = form;
  used_ = scanned_ = line_start_ = **end;
  return std::optional<Message>(std::move(*message));
}

Result<Message> Reader::parse_line(std::string_view line) const {
  Message message;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ') {  // some servers end a line with a space, or put two
      ++at;
      continue;
    }
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view token = line.substr(at, end - at);
    const std::size_t equals = token.find('=');
    const auto refuse = [&](std::string_view rule) {
      return fail(Errc::bad_input, "PMI message", at_byte(stream_offset(token.data()), rule));
    };
    if (token.find('\0') != std::string_view::npos) return refuse("a NUL byte is not allowed");
    if (equals == std::string_view::npos || equals == 0) return refuse("a field has the form key=value");
    if (at == 0) {
      message.name_ = token.substr(equals + 1);
      if (message.name_.empty()) return refuse("the command has no name");
    } else if (message.fields_.size() == limits_.fields) {
      return refuse("more than " + std::to_string(limits_.fields) + " fields");
    } else {
      message.fields_.push_back({token.substr(0, equals), token.substr(equals + 1)});
    }
    at = end;
  }
  return message;
}

Result<Message> Reader::parse_lines(std::string_view text) const {
  Message message;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text.substr(at, end - at);
    const std::size_t equals = line.find('=');
    const auto refuse = [&](std::string_view rule) {
      return fail(Errc::bad_input, "PMI message", at_byte(stream_offset(line.data()), rule));
    };
    if (line.find('\0') != std::string_view::npos) return refuse("a NUL byte is not allowed");
    if (at == 0) {
      message.name_ = line.substr(kLinesStart.size());
      if (message.name_.empty()) return refuse("the command has no name");
    } else if (line != kLinesEnd) {
      if (equals == std::string_view::npos || equals == 0) return refuse("a field has the form key=value");
      if (message.fields_.size() == limits_.fields) {
        return refuse("more than " + std::to_string(limits_.fields) + " fields");
      }
      message.fields_.push_back({line.substr(0, equals), line.substr(equals + 1)});
    }
    at = end + 1;
  }
  return message;
}

Result<Message> Reader::parse_frame(std::size_t begin, std::size_t end) {
  Message message;
  for (std::size_t at = begin; at < end;) {
    const std::size_t start = at;
    std::size_t filled = at;  // where the next byte of the field goes: two semicolons become one
    for (; at < end && (buffer_[at] != ';' || (at + 1 < end && buffer_[at + 1] == ';')); ++at) {
      if (buffer_[at] == ';') ++at;
      buffer_[filled++] = buffer_[at];
    }
    const std::string_view token = std::string_view(buffer_).substr(start, filled - start);
    ++at;
    const std::size_t equals = token.find('=');
    const auto refuse = [&](std::string_view rule) {
      return fail(Errc::bad_input, "PMI message", at_byte(consumed_ + start, rule));
    };
    if (token.find('\0') != std::string_view::npos) return refuse("a NUL byte is not allowed");
    if (equals == std::string_view::npos || equals == 0) return refuse("a field has the form key=value");
    if (start == begin) {
      message.name_ = token.substr(equals + 1);
      if (message.name_.empty()) return refuse("the command has no name");
    } else if (message.fields_.size() == limits_.fields) {
      return refuse("more than " + std::to_string(limits_.fields) + " fields");
    } else {
      message.fields_.push_back({token.substr(0, equals), token.substr(equals + 1)});
    }
  }
  return message;
}

bool is_framable(std::string_view value) noexcept { return value.find('\0') == std::string_view::npos; }

bool is_plain(std::string_view value) noexcept {
  return !value.empty() && std::all_of(value.begin(), value.end(), plain_byte);
}

std::string percent_encode(std::string_view text) {
  if (text.empty()) return "%";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char byte : text) {
    if (plain_byte(byte) && byte != '\\' && byte != '%' && byte != ';') {
      encoded += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    encoded += '%';
    encoded += kHex[value >> 4];
    encoded += kHex[value & 15];
  }
  return encoded;
}

std::string percent_decode(std::string_view text) {
  if (text == "%") return {};
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && text.size() - i > 2) {
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

Line::Line(std::string_view name) : text_("cmd=") {
  expects(is_plain(name), "a PMI command name must be plain");
  text_ += name;
}

Line& Line::add(std::string_view key, std::string_view value) {
  expects(is_plain(key) && is_plain(value), "a PMI field must be plain");
  text_.append(" ").append(key).append("=").append(value);
  return *this;
}

Line& Line::add(std::string_view key, std::int64_t value) { return add(key, std::to_string(value)); }

std::string Line::take() && {
  text_ += '\n';
  return std::move(text_);
}

Frame::Frame(std::string_view name) : text_(kLengthBytes, ' ') {
  expects(is_plain(name), "a PMI command name must be plain");
  text_.append(kLineStart).append(name) += ';';
}

Frame& Frame::add(std::string_view key, std::string_view value) {
  expects(is_plain(key) && is_framable(value), "a PMI field must be framable");
  text_.append(key) += '=';
  for (const char byte : value) text_.append(byte == ';' ? 2 : 1, byte);
  text_ += ';';
  return *this;
}

Frame& Frame::add(std::string_view key, std::int64_t value) { return add(key, std::to_string(value)); }

std::string Frame::take() && {
  const std::string length = std::to_string(text_.size() - kLengthBytes);
  expects(text_.size() - kLengthBytes <= kMaxFrame, "a PMI frame is too long");
  text_.replace(kLengthBytes - length.size(), length.size(), length);
  return std::move(text_);
}

}  // namespace starling::pmi::wire
