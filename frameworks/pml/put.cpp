// SPDX-License-Identifier: BSD-3-Clause
// One message out of a user's buffer.
#include "frameworks/pml/put.hpp"

#include <cstring>

namespace starling::pml {

Post put(btl::Endpoint& endpoint, std::span<const std::byte> header, const Buffer& buffer,
         std::uint64_t offset, std::size_t bytes) noexcept {
  if (buffer.layout == nullptr) {
    return endpoint.send(header,
                         {static_cast<const std::byte*>(buffer.base) + (bytes == 0 ? 0 : offset), bytes});
  }
  std::byte* const room = endpoint.reserve(header.size() + bytes);
  if (room == nullptr) return Post::again;
  std::memcpy(room, header.data(), header.size());
  buffer.layout->pack(buffer.base, buffer.count, offset, room + header.size(), bytes);
  endpoint.commit(header.size() + bytes);
  return Post::done;
}

}  // namespace starling::pml
