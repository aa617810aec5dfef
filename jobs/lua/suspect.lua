-- Atomic: the request that is about to run on probation is marked, if the worker still holds its bundle.
-- ARGV: worker, lane, entry, job id, bundle id, request id
if #call('XPENDING', ARGV[2], GROUP, ARGV[3], ARGV[3], 1, ARGV[1]) == 0 then return 0 end
call('HSET', key('suspects', ARGV[4]), ARGV[5], ARGV[6])
return 1
