-- Atomic: a job of one bundle that stands in no list is in progress with its room kept, or nothing of it is there.
-- ARGV: job id, number of requests, limit, spec JSON, time in seconds until somebody waits, what it is, channel or '',
-- owner or '', most requests of the owner's in the queue or '', then the bundle: id, number of requests, model, lane,
-- image or '', payload; then most interactive requests of the owner's or ''
local job, requests, limit, until_seconds = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[5]
local owner, most = ARGV[8], ARGV[9]
if call('EXISTS', key('job', job)) == 1 then return 'asked' end
local refused = no_room(requests, limit, owner ~= '' and owner, tonumber(most), tonumber(ARGV[16]))
if refused then return refused end
if owner ~= '' then
  call('HSET', key('job', job), 'owner', owner, 'queued_limit', most, 'interactive_limit', ARGV[16])
end
take_room(job, requests)
call('HSET', key('job', job), 'spec', ARGV[4], 'summary', '', 'status', 'in_progress', 'created_at', now(),
  'total', requests, 'completed', 0, 'failed', 0, 'reserved', requests, 'total_reserved', requests, 'open', 0,
  'idempotency', '', 'hidden', ARGV[6], 'channel', ARGV[7])
call('ZADD', key('chats'), until_seconds, job)
enqueue_bundle(job, ARGV[10], ARGV[11], ARGV[12], ARGV[13], ARGV[14], ARGV[15])
return 'asked'
