// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An operation that Asio's public functions can carry: as a function object, in memory that the
// operation itself has room for. So what was accepted can always be queued.

#ifndef ASIO_WHEEL_DETAIL_ASIO_PUBLIC_OPERATION_HPP
#define ASIO_WHEEL_DETAIL_ASIO_PUBLIC_OPERATION_HPP

#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/memory/resource_allocator.hpp>

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace asio_wheel::detail {

/// Memory for what Asio allocates to queue one function, at one time.
class operation_room {
public:
    static constexpr std::size_t alignment = alignof(std::max_align_t);

    [[nodiscard]] void* allocate(std::size_t size) {
        return size <= sizeof(memory_) ? memory_ : ::operator new(size);
    }
    void deallocate(void* memory, std::size_t) noexcept {
        if (memory != memory_) {
            ::operator delete(memory);
        }
    }

private:
    // Boost 1.81 to 1.92 need 40 bytes of it for an executor, and 88 for a timer (120 on Windows).
    alignas(alignment) std::byte memory_[128];
};

/// See operation in context_queue.hpp.
class public_operation BOOST_ASIO_INHERIT_TRACKED_HANDLER {
public:
    using func_type = void (*)(void* queue, public_operation* op, const boost::system::error_code&,
                               std::size_t);

    public_operation(const public_operation&) = delete;
    public_operation& operator=(const public_operation&) = delete;

    void complete(void* queue, const boost::system::error_code& ec, std::size_t n) {
        function_(queue, this, ec, n);
    }
    void destroy() { function_(nullptr, this, {}, 0); }

protected:
    explicit public_operation(func_type function) noexcept : function_(function) {}
    ~public_operation() = default;

private:
    friend class public_batch;
    friend class operation_function;

    public_operation* next_ = nullptr; // In a batch.
    const func_type function_;
    operation_room room_;
};

/// See operation_batch in context_queue.hpp.
class public_batch {
public:
    public_batch() = default;
    public_batch(public_batch&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {
    }
    public_batch& operator=(public_batch&&) = delete;
    ~public_batch() {
        while (!empty()) { // As Asio's lists do.
            pop().destroy();
        }
    }

    void push(public_operation& op) noexcept {
        op.next_ = nullptr;
        (empty() ? first_ : last_->next_) = &op;
        last_ = &op;
    }

    [[nodiscard]] public_operation& pop() noexcept { return *std::exchange(first_, first_->next_); }
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

private:
    public_operation* first_ = nullptr;
    public_operation* last_ = nullptr; // Used only if there is a first one.
};

/// The function object that carries an operation. If it is dropped, the operation is destroyed.
class operation_function {
public:
    using allocator_type = resource_allocator<void, operation_room>;

    explicit operation_function(public_operation& op) noexcept : op_(&op) {}
    operation_function(operation_function&& other) noexcept
        : op_(std::exchange(other.op_, nullptr)) {}
    operation_function& operator=(operation_function&&) = delete;
    ~operation_function() {
        if (op_ != nullptr) {
            op_->destroy();
        }
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept {
        return allocator_type(op_->room_);
    }

    void operator()() {
        public_operation* const op = std::exchange(op_, nullptr);
        op->complete(op, {}, 0); // Any queue: it only must not be null.
    }
    void operator()(const boost::system::error_code&) { (*this)(); } // For a timer.

private:
    public_operation* op_;
};

} // namespace asio_wheel::detail

#endif
