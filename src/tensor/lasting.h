// Memory that lives as long as a model or an optimizer: weights, their copies for products, gradients, moments.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "tensor/tensor.h"

namespace tril {

/// Zeroed memory, in huge pages if the system has them: loops over weights touch more small pages than the
/// processor's page table cache (TLB) holds. @throws Error if there is not enough memory
/// @param reserved  so many of the bytes will hardly be touched, so that they need not exist
std::shared_ptr<std::byte> lasting_memory(std::size_t bytes, std::size_t reserved = 0);
/// n zeros in separate memory: [n].
Tensor lasting_zeros(std::int64_t n, DType type = DType::f32);
/// Returns the whole pages within such memory, or within a part of it that uses small pages, to the system; all
/// bytes are zero afterwards.
void give_back(std::span<std::byte> bytes);
/// Uses small pages for such a tensor, none of which has been touched yet: untouched pages take no memory.
void use_small_pages(Tensor x);

}  // namespace tril
