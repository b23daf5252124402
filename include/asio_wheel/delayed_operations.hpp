// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Operations that wait for an event, or for their deadline:
//
//     asio_wheel::delayed_operations<topic, batch> fetches(ctx);
//     auto enough = [&] { return log.size() >= 10 ? std::optional(log) : std::nullopt; };
//     batch b = co_await fetches.async_wait({news, sports}, 500ms, enough, use_awaitable);
//
// and, wherever something is appended: fetches.check(news).

#ifndef ASIO_WHEEL_DELAYED_OPERATIONS_HPP
#define ASIO_WHEEL_DELAYED_OPERATIONS_HPP

#include <asio_wheel/detail/requirements.hpp>

#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/initiation_of.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/delayed_operations/key_list.hpp>
#include <asio_wheel/detail/delayed_operations/op.hpp>
#include <asio_wheel/detail/stable_impl.hpp>
#include <asio_wheel/detail/time/duration_check.hpp>
#include <asio_wheel/detail/time/saturating.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel {

namespace detail {

template <class Key, class Result, class Clock, class Executor, class Hash, class Equal>
class delayed_operations_impl;

template <class Function, class Result>
concept completes_with =
    (std::invocable<Function&> &&
     std::same_as<std::invoke_result_t<Function&>, std::optional<Result>>) ||
    (std::invocable<Function&, attempt> &&
     std::same_as<std::invoke_result_t<Function&, attempt>, std::optional<Result>>);

} // namespace detail

/// Operations that wait until what they need is there, or until their deadline: the long polls of a
/// server, or Kafka's DelayedOperationPurgatory.
///
/// An operation has a function that says whether it can complete. The function is called when the
/// operation starts, each time one of the operation's keys is checked, and at the deadline. It
/// returns a std::optional<Result>. With a value the operation completes with that value; with
/// std::nullopt it goes on waiting. It takes no argument, or an asio_wheel::attempt. At the
/// deadline that is attempt::last: the function can return what there is, even if that is less than
/// what was wanted. If it returns nothing then, the operation completes with error::timed_out.
///
/// So each operation completes once: by a check, at its deadline, or because it is cancelled. Until
/// the context calls the handler at the deadline, a check can still complete the operation.
///
/// What a function may do. It may call any function of this object: check keys, cancel operations,
/// and start others. If it checks one of its own keys, it is called again when it has returned; so
/// a function that does this each time never ends. If it cancels its own operation, that completes
/// with operation_aborted when the function has returned. If the function returns a value, the
/// handler gets that together with the error, so that it is not lost. It must not run the context,
/// nor destroy or assign to this object.
///
/// Exceptions. What a function throws leaves the call that made the attempt. From async_wait():
/// then there is no operation. From check(): the operation goes on waiting, all other operations
/// are tried all the same, and then the first exception is thrown. At the deadline, and from
/// force(): the operation completes with error::timed_out all the same; at the deadline the
/// exception leaves the context's run().
///
/// `Result` is movable and default constructible; std::monostate if there is nothing to tell. `Key`
/// is copied; `Hash` and `Equal` are as for std::unordered_map.
///
/// Starting an operation, and completing it, take constant time for each of its keys. A check takes
/// a call of each function that watches the key. An operation that completes is gone from the lists
/// of all its keys at once; a key that nothing watches takes no memory.
///
/// Movable at any time, also while operations wait. An object that was moved from may be destroyed,
/// assigned to and cancelled; everything else throws std::logic_error, or terminates the program if
/// it is noexcept.
///
/// Thread safety. Distinct objects: safe. One object: unsafe; and the object is also used on its
/// executor, when a deadline has come, and by the operations' cancellation slots. So if several
/// threads run the context, give the object a strand, and use it there only. Handlers may have
/// other executors.
///
/// When the context ends, operations that wait are destroyed without being completed. The object
/// may outlive the context, if its executor may (a strand may not).
template <class Key, class Result, class Clock, class Executor = boost::asio::any_io_executor,
          class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class basic_delayed_operations {
    using impl = detail::delayed_operations_impl<Key, Result, Clock, Executor, Hash, Equal>;
    using initiate_async_wait = detail::initiation_of<impl>;
    static_assert(std::default_initializable<Result>,
                  "what an operation gives with an error is a default-constructed result");

public:
    using key_type = Key;                          ///< What operations watch.
    using result_type = Result;                    ///< What operations complete with.
    using clock_type = Clock;                      ///< The clock that tells the time.
    using duration = typename Clock::duration;     ///< Of the clock.
    using time_point = typename Clock::time_point; ///< Of the clock.
    using executor_type = Executor;                ///< The type of get_executor().
    using hasher = Hash;                           ///< Hashes keys.
    using key_equal = Equal;                       ///< Compares keys.

    /// What async_wait() takes for keys: `{a, b}`, one key, or a range of keys.
    using keys_type = detail::key_list<Key>;

    /// The object's type with another executor.
    template <class Executor1>
    struct rebind_executor {
        using other = basic_delayed_operations<Key, Result, Clock, Executor1, Hash, Equal>;
    };

    /// No operation waits yet. Keys are hashed and compared by copies of `hash` and `equal`.
    explicit basic_delayed_operations(const executor_type& ex, const Hash& hash = Hash(),
                                      const Equal& equal = Equal())
        : impl_(std::in_place, ex, hash, equal) {}

    template <class Context>
        requires detail::is_context<Context>
    explicit basic_delayed_operations(Context& context, const Hash& hash = Hash(),
                                      const Equal& equal = Equal())
        : basic_delayed_operations(executor_type(context.get_executor()), hash, equal) {}

    /// Takes over `other`'s operations.
    basic_delayed_operations(basic_delayed_operations&& other) noexcept = default;
    /// The same. Operations that waited here before are aborted.
    basic_delayed_operations& operator=(basic_delayed_operations&& other) noexcept = default;
    ~basic_delayed_operations() = default; ///< Aborts operations that wait.

    /// The executor for handlers that have none of their own.
    [[nodiscard]] const executor_type& get_executor() const noexcept {
        return impl_->get_executor();
    }

    /// Starts an operation that watches `keys`, and whose deadline is `d` after its start.
    /// `function` is called at once. (With a token such as deferred, both is when the operation is
    /// started, not now.)
    ///
    /// Completion signature: void(boost::system::error_code, Result)
    ///
    /// Completes with what `function` returns. Never from inside this function, nor from inside
    /// check(), force() or cancel(): as if by post().
    ///
    /// Errors: error::timed_out at the deadline, if the function gives nothing then;
    /// boost::asio::error::operation_aborted after cancel(), destruction, move assignment, or a
    /// signal to the handler's cancellation slot; error::too_many_pending or error::wheel_stopped
    /// if the function gives nothing at the start and the wheel refuses to wait, or if the wheel is
    /// drained.
    ///
    /// Executor: the handler's associated executor, by default this object's. It has outstanding
    /// work until the handler is called, and this object's until the wait has ended and is on its
    /// way.
    ///
    /// Per-operation cancellation: terminal, partial and total, all with the same effect, until the
    /// operation completes.
    ///
    /// Allocation: one, by the handler's associated allocator, freed before the handler is called;
    /// one for each key that nothing has watched, and now and then a table for these. If any of
    /// them throws, there is no operation, and the function was not called. Once started, an
    /// operation needs no further memory of ours, whichever way it ends. (A strand, or an executor
    /// of an unknown kind, allocates for each handler. If it has no memory, the operation is sent
    /// to it again later.)
    ///
    /// Throws std::invalid_argument without keys, or if `d` is not a number.
    ///
    /// The function is destroyed before the handler is called.
    template <class Rep, class Period, class Function,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, Result))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_wait(
        keys_type keys, const std::chrono::duration<Rep, Period>& d, Function function,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type()) {
        return begin(std::move(keys),
                     detail::ceil_saturating<duration>(
                         detail::not_nan("the timeout of a delayed operation", d)),
                     std::move(function), token);
    }

    /// The same with a deadline at a time.
    template <class Function,
              BOOST_ASIO_COMPLETION_TOKEN_FOR(void(boost::system::error_code, Result))
                  Token = typename boost::asio::default_completion_token<executor_type>::type>
    auto async_wait_until(
        keys_type keys, const time_point& deadline, Function function,
        Token&& token = typename boost::asio::default_completion_token<executor_type>::type()) {
        return begin(std::move(keys),
                     detail::not_nan("the deadline of a delayed operation", deadline),
                     std::move(function), token);
    }

    // For any other handler. The name of the return type is a part of the compiler's message.
    template <class When, class Function, class Handler>
        requires(!detail::token_for<Handler, void(boost::system::error_code, Result)>)
    detail::the_handler_must_be_callable_with_an_error_code_and_a_result
    async_wait(const keys_type&, const When&, const Function&, Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with an error_code and a result");
    template <class When, class Function, class Handler>
        requires(!detail::token_for<Handler, void(boost::system::error_code, Result)>)
    detail::the_handler_must_be_callable_with_an_error_code_and_a_result
    async_wait_until(const keys_type&, const When&, const Function&, Handler&&)
        ASIO_WHEEL_DELETED("the handler must be callable with an error_code and a result");

    /// Something has happened to `key`: calls the functions of all operations that watch it, in the
    /// order in which these were started. Those with a value complete. Returns how many these are.
    std::size_t check(const Key& key) { return impl_->try_watchers(key, attempt::ordinary); }

    /// Completes all operations that watch `key` now, as if their deadline had come: with what
    /// their functions give when called with attempt::last, else with error::timed_out. Returns how
    /// many these are.
    std::size_t force(const Key& key) { return impl_->try_watchers(key, attempt::last); }
    /// The same for all operations: what a server does before it shuts down.
    std::size_t force() { return impl_->try_watchers(attempt::last); }

    /// Aborts all operations that watch `key`. Returns how many these are.
    std::size_t cancel(const Key& key) { return impl_ ? impl_->cancel(key) : 0; }
    /// Aborts all operations.
    std::size_t cancel() noexcept { return impl_ ? impl_->cancel() : 0; }

    /// How many operations wait.
    [[nodiscard]] std::size_t pending() const noexcept { return impl_->pending(); }
    /// How many places they take in the lists of keys: an operation that watches three keys takes
    /// three.
    [[nodiscard]] std::size_t watched() const noexcept { return impl_->watched(); }
    /// How many operations watch `key`. Takes time for each of them.
    [[nodiscard]] std::size_t watched(const Key& key) const { return impl_->watched(key); }
    /// How many keys are watched.
    [[nodiscard]] std::size_t keys() const noexcept { return impl_->keys(); }

private:
    template <class When, class Function, class Token>
    auto begin(keys_type&& keys, const When& when, Function function, Token& token) {
        static_assert(detail::completes_with<Function, Result>,
                      "asio_wheel: the function of a delayed operation must return a "
                      "std::optional<Result>: what the operation completes with, or std::nullopt");
        return boost::asio::async_initiate<Token, void(boost::system::error_code, Result)>(
            initiate_async_wait(impl_.get()), token, std::move(keys), when, std::move(function));
    }

    detail::stable_impl<impl> impl_;
};

/// Delayed operations on the steady clock.
template <class Key, class Result, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using delayed_operations = basic_delayed_operations<Key, Result, std::chrono::steady_clock,
                                                    boost::asio::any_io_executor, Hash, Equal>;

} // namespace asio_wheel

#include <asio_wheel/detail/delayed_operations/impl.hpp>

#endif
