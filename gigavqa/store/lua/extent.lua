-- Reads only: where the responses of a job are at one moment. A script, because a server whose memory is full may refuse
-- transactions, even those that only read.
-- ARGV: job id, most requests to tell. Returns how many responses there are, the parts with their seals as pairs, and
-- the requests whose texts are here; false in place of these when there are more.
local job = ARGV[1]
local hot = call('HLEN', key('texts', job)) <= tonumber(ARGV[2]) and call('HKEYS', key('texts', job))
return {call('XLEN', key('results', job)), call('HGETALL', key('parts', job)), hot}
