// Memory that stays as long as a model or an optimiser does: weights, their copies for products, gradients, moments.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "tensor/tensor.h"

namespace tril {

/// Zeroed memory, in large pages where the system has them: loops over weights touch more of them than its table of small
/// pages holds. Throws Error where there is none.
std::shared_ptr<std::byte> lasting_memory(std::size_t bytes);
/// n zeros in memory of their own: [n].
Tensor lasting_zeros(std::int64_t n);
/// Gives such memory, or a part of it that lies in small pages, back to the system as far as whole pages go; all of its bytes
/// are zero from then on.
void give_back(std::span<std::byte> bytes);
/// Lets such a tensor, nothing of which has been touched yet, lie in small pages: those that stay untouched take no memory.
void use_small_pages(Tensor x);

}  // namespace tril
