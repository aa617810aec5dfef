-- Atomic: one more request under a rate, or none (GCRA). The key holds when all that was admitted is paid for.
-- ARGV: key, requests a minute. Returns admitted, how many more may come now, microseconds until one may, and until all
local minute, interval, at = 60000000, 60000000 / tonumber(ARGV[2]), tonumber(now())
local paid = math.max(tonumber(call('GET', ARGV[1]) or 0), at)
local ahead = paid - at + interval
if ahead > minute + 1 then return {0, 0, math.ceil(ahead - minute), math.ceil(paid - at)} end
call('SET', ARGV[1], string.format('%.0f', paid + interval), 'PX', math.ceil(ahead / 1000) + 1)
return {1, math.floor((minute + 1 - ahead) / interval), 0, math.ceil(ahead)}
