-- Atomic: the first response to a request is kept, counted, told to watchers and to the sink; with the last one its
-- bundle is acknowledged and its job completed. Later responses, and those of ended jobs, change nothing.
-- ARGV: job id, request id, bundle id or '', lane, entry, 'completed' or 'failed', packed response, what it took as JSON,
-- metadata pairs
local job, request, bundle, outcome = ARGV[1], ARGV[2], ARGV[3], ARGV[6]
local status = call('HGET', key('job', job), 'status')
if not status or FINAL[status] then return 0 end
local response = key('response', job) .. request
if call('EXISTS', response) == 1 then return 0 end

local cursor = call('XADD', key('results', job), '*', 'request', request)
call('HSET', response, 'cursor', cursor, 'outcome', outcome, unpack(ARGV, 9))
call('HSET', key('texts', job), request, ARGV[7])
call('XADD', key('unsunk'), '*', 'job', job, 'request', request, 'cursor', cursor)
call('HINCRBY', key('job', job), outcome, 1)
call('HINCRBY', key('recorded'), outcome, 1)
if outcome == 'failed' then count_failure(job, response, 1) end
count_usage(job, cjson.decode(ARGV[8]))
release(job, 1)

local remaining, model = bundle_state(job, bundle)
if remaining == 1 then
  close_bundle(job, bundle, model)
  call('XACK', ARGV[4], GROUP, ARGV[5])
elseif remaining then
  set_remaining(job, bundle, remaining - 1, model)
end

local n = call('HMGET', key('job', job), 'total', 'completed', 'failed', 'progressed', 'progressed_at')
local done, total, at = tonumber(n[2]) + tonumber(n[3]), tonumber(n[1]), now()
local step = math.max(1, math.floor(total / 100))
if done == total or done - tonumber(n[4] or 0) >= step or at - tonumber(n[5] or 0) > PROGRESS_MICROSECONDS then
  call('HSET', key('job', job), 'progressed', done, 'progressed_at', at)
  emit(job, 'progress')
end
finish_if_all_done(job)
return 1
