-- Atomic: the whole job gets its place within the limits of outstanding requests, all and its owner's, or nothing of it
-- does.
-- ARGV: job id, number of its requests, of those that are answered and need no room, limit, data set digest
local job, total, limit, digest = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4]), ARGV[5]
local requests = total - tonumber(ARGV[3])
local status = call('HGET', key('job', job), 'status')
if not status then return 'missing' end
if status ~= 'validating' then return status end
if call('HEXISTS', key('job', job), 'total_reserved') == 1 then return 'validating' end
local refused = no_room_for(job, requests, limit)
if refused then return refused end
take_room(job, requests)
call('HSET', key('job', job), 'total', total, 'reserved', requests, 'total_reserved', requests,
  'dataset_digest', digest)
return 'validating'
