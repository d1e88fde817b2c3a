// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  PMI-1 and PMI-2 on the wire: one codec for client and server. Layer: framework.
///
/// A PMI-1 message is `cmd=<name> key=value ...\n`, or the multi-line form
/// `mcmd=<name>\nkey=value\n...endcmd\n`, in which values may contain spaces. A PMI-2 message is a frame: six
/// characters with the decimal length of the rest, padded with spaces on either side, then
/// `cmd=<name>;key=value;...;`, where `;;` stands for a semicolon in a value. How a message starts tells
/// which it is. See docs/design/pmi.md.
///
/// Threads:   value types.
/// Ownership: a Message views into its Reader's buffer: it is valid until the next append() or next() of that
///            Reader.
/// Errors:    bad_input with the offset in the stream and the rule that was broken; limits
///            are checked before anything is allocated for a message. After an error the Reader stays failed:
///            the stream cannot be resynchronised.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::pmi::wire {

struct Limits {
  std::size_t line_bytes = 128 * 1024;      ///< longest single line, newline included
  std::size_t command_bytes = 1024 * 1024;  ///< longest multi-line command, and longest frame
  std::size_t fields = 8192;                ///< fields of one message
};

struct Field {
  std::string_view key;
  std::string_view value;
};

enum class Form : std::uint8_t { line, lines, frame };

class Message {
 public:
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] Form form() const noexcept { return form_; }
  [[nodiscard]] std::span<const Field> fields() const noexcept { return fields_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

  /// The first field of that name.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const noexcept;
  /// A field that must be there and not be empty.
  [[nodiscard]] Result<std::string_view> text(std::string_view key) const;
  /// A field that must be there and be a whole decimal number in [min, max].
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key, std::int64_t min, std::int64_t max) const;
  /// The error for a message whose fields break `rule`.
  [[nodiscard]] Unexpected broken(std::string_view rule) const;

 private:
  friend class Reader;
  std::string_view name_;
  std::vector<Field> fields_;
  std::uint64_t offset_ = 0;
  Form form_ = Form::line;
};

/// Cuts a byte stream into messages.
class Reader {
 public:
  explicit Reader(Limits limits = {}) : limits_(limits) {}
  /// Adds received bytes. Callers pass what one read gave, so the buffer exceeds the limits by one read at
  /// most.
  void append(std::string_view bytes);
  /// The next complete message; none: more bytes are needed.
  [[nodiscard]] Result<std::optional<Message>> next();
  /// Whether the stream ended inside a message.
  [[nodiscard]] bool in_message() const noexcept { return used_ < buffer_.size(); }

 private:
  /// The end of the message that waits, a text of lines; none: more bytes are needed.
  Result<std::optional<std::size_t>> end_of_lines(bool one);
  /// The end of the frame that waits.
  Result<std::optional<std::size_t>> end_of_frame();
  Result<Message> parse_line(std::string_view line) const;
  Result<Message> parse_lines(std::string_view text) const;
  /// Joins escaped semicolons in the buffer.
  Result<Message> parse_frame(std::size_t begin, std::size_t end);
  [[nodiscard]] Unexpected broken(std::size_t at, std::string_view rule);
  [[nodiscard]] std::uint64_t stream_offset(const char* at) const noexcept {
    return consumed_ + static_cast<std::uint64_t>(at - buffer_.data());
  }

  Limits limits_;
  std::string buffer_;
  std::size_t used_ = 0;        ///< bytes of buffer_ that earlier messages took
  std::size_t scanned_ = 0;     ///< buffer_ was searched for newlines up to here
  std::size_t line_start_ = 0;  ///< where the line begins that scanned_ is in
  std::uint64_t consumed_ = 0;  ///< stream offset of buffer_[0]
  std::optional<Error> failed_;
};

/// Whether a value can travel in the one-line form: not empty, free of space, newline and NUL. (Some servers
/// refuse a backslash too: Starling sends none, but passes on what others sent.)
[[nodiscard]] bool is_plain(std::string_view value) noexcept;
/// Whether a value can travel in a frame: free of NUL; a semicolon is doubled on the wire.
[[nodiscard]] bool is_framable(std::string_view value) noexcept;
/// Any text as a plain value: bytes that are not plain, `%` and `;` become %XX; the empty text becomes "%".
[[nodiscard]] std::string percent_encode(std::string_view text);
/// The inverse; what is no valid escape stays as it is.
[[nodiscard]] std::string percent_decode(std::string_view text);

/// Writes one line. Keys and values must be plain: passing others is a bug.
class Line {
 public:
  explicit Line(std::string_view name);
  Line& add(std::string_view key, std::string_view value);
  Line& add(std::string_view key, std::int64_t value);
  [[nodiscard]] std::string take() &&;

 private:
  std::string text_;
};

/// Writes one frame. Keys must be plain and values framable: passing others is a bug, as is a frame of more
/// than 999,999 bytes.
class Frame {
 public:
  explicit Frame(std::string_view name);
  Frame& add(std::string_view key, std::string_view value);
  Frame& add(std::string_view key, std::int64_t value);
  [[nodiscard]] std::string take() &&;

 private:
  std::string text_;
};

}  // namespace starling::pmi::wire
