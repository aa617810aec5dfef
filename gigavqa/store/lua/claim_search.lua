-- Atomic: of each search of a job one asks that is not kept; who knows the one before may stand in its place.
-- ARGV: job id, name of the search, who asked before or '', who asks now or ''. Returns the result that is kept or nil,
-- and who asks; of a job that is gone nothing is written.
local job, search, before, asker = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local kept = call('HGET', key('searches', job), search)
if kept or call('EXISTS', key('job', job)) == 0 then return {kept, asker} end
local found = call('HGET', key('searching', job), search) or ''
if found ~= before then return {false, found} end
if asker == '' then call('HDEL', key('searching', job), search)
else call('HSET', key('searching', job), search, asker) end
return {false, asker}
