-- Atomic: a stream counts as open for a time, or is one too many. Those whose time is over count no more.
-- ARGV: key, token, most open ones or 0 for no bound, time in ms
local set, token, limit, ms = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local at = math.floor(tonumber(now()) / 1000)
call('ZREMRANGEBYSCORE', set, '-inf', at)
if limit > 0 and call('ZCARD', set) >= limit then return 0 end
call('ZADD', set, at + ms, token)
call('PEXPIRE', set, ms)
return 1
