// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What happens to a job, as scripts that Redis runs atomically. All of them can be repeated.
//
//   KEYS[1]  sorted set: job → when it can be claimed: its due time, or the end of its lease
//   KEYS[2]  hash: job → its data
//   KEYS[3]  hash: job → the token of the last claim, which is the only one that is valid
//   KEYS[4]  the last token. They grow, also if an id is used again
//
// Times are microseconds of Redis' clock. No other clock is compared with it.

#ifndef DURABLE_QUEUE_SCRIPTS_HPP
#define DURABLE_QUEUE_SCRIPTS_HPP

namespace durable::scripts {

inline constexpr auto now = R"(
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
)";

/// ARGV: id, delay, data. Adds a job, unless there is one with this id. If no other job can be
/// claimed before it, the workers are told, because they may wait for a later one. Returns the due
/// time; 0 if the job was there before.
inline constexpr auto put = R"(
    if redis.call('ZADD', KEYS[1], 'NX', now + ARGV[2], ARGV[1]) == 0 then return 0 end
    redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
    if redis.call('ZRANK', KEYS[1], ARGV[1]) == 0 then
        redis.call('PUBLISH', KEYS[1], ARGV[2])
    end
    return now + ARGV[2]
)";

/// ARGV: the most that are wanted, lease. Claims jobs that are due, and those whose lease has
/// ended. A claimed job stays in the set, at the end of its lease: so if it is not done by then, it
/// can be claimed again. Returns: the time from now to the next one, if there is one, the token,
/// and id and data of each.
inline constexpr auto claim = R"(
    local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
    local answer = {'', 0}
    if #ids > 0 then answer[2] = redis.call('INCR', KEYS[4]) end
    for _, id in ipairs(ids) do
        redis.call('ZADD', KEYS[1], now + ARGV[2], id)
        redis.call('HSET', KEYS[3], id, answer[2])
        answer[#answer + 1] = id
        answer[#answer + 1] = redis.call('HGET', KEYS[2], id) or ''
    end
    local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
    if next[2] then answer[1] = next[2] - now end
    return answer
)";

/// ARGV: id, token, lease. Returns 1; 0 if another worker has claimed the job since, or it is gone.
inline constexpr auto renew = R"(
    if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
    redis.call('ZADD', KEYS[1], 'XX', now + ARGV[3], ARGV[1])
    return 1
)";

/// ARGV: id, token. Removes the job. Returns as `renew` does.
inline constexpr auto done = R"(
    if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
    redis.call('ZREM', KEYS[1], ARGV[1])
    redis.call('HDEL', KEYS[2], ARGV[1])
    redis.call('HDEL', KEYS[3], ARGV[1])
    return 1
)";

} // namespace durable::scripts

#endif
