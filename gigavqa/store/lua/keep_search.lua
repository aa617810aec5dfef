-- Atomic: of each search of a job the first result is kept, and nobody asks any more; of a job that is gone none.
-- ARGV: job id, name of the search, its result, packed. Returns the result that is kept, or nil.
local job, search, packed = ARGV[1], ARGV[2], ARGV[3]
if call('EXISTS', key('job', job)) == 0 then return nil end
call('HSETNX', key('searches', job), search, packed)
call('HDEL', key('searching', job), search)
return call('HGET', key('searches', job), search)
