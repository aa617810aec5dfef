-- Shared by all scripts. KEY is generated from store/redis_keys.py; the server is one node, so scripts build keys themselves.
local GROUP = 'workers'
local EVENTS_KEPT = 1000
local PROGRESS_MICROSECONDS = 2000000
local OWNED_MS = 600000
local FINAL = {completed = true, failed = true, cancelled = true}
local JOB_SECONDS = {1, 10, 60, 300, 900, 3600, 14400, 43200, 86400}
local call = redis.call

local function key(name, id)
  local parts = KEY[name]
  if id then return parts[1] .. id .. parts[2] end
  return parts[1]
end

local function now()
  local t = call('TIME')
  return t[1] .. string.format('%06d', t[2])
end

local function number(job, field)
  return tonumber(call('HGET', key('job', job), field) or 0) or 0
end

-- Counts what is never taken back: no deletion, and no end of a process, makes it less.
local function tally(name, by)
  if by > 0 then call('HINCRBY', key('totals'), name, string.format('%d', by)) end
end

local function emit(job, kind, status)
  local n = call('HMGET', key('job', job), 'total', 'completed', 'failed', 'status')
  local data = string.format('{"status":"%s","request_counts":{"total":%d,"completed":%d,"failed":%d}}',
    n[4], tonumber(n[1]), tonumber(n[2]), tonumber(n[3]))
  local id = call('XADD', key('events', job), 'MAXLEN', '~', EVENTS_KEPT, '*', 'kind', kind, 'data', data)
  call('HSET', key('job', job), 'event', id)
end

-- What a job is that stands in no list; nil for all others.
local function hidden(job)
  return call('HGET', key('job', job), 'hidden')
end

-- Tells whoever waits for a chat that there is more to be read of it.
local function tell_listener(job)
  local channel = call('HGET', key('job', job), 'channel')
  if channel and channel ~= '' then call('PUBLISH', channel, cjson.encode({chat = job})) end
end

-- The job's place among those of its status; `before` is the status that it leaves.
local function index_job(job, status, before)
  local found = call('HMGET', key('job', job), 'created_at', 'owner', 'hidden')
  local created, owner = found[1], found[2]
  if found[3] then return end
  if before then call('ZREM', key('in_status', before), job) end
  call('ZADD', key('in_status', status), created, job)
  if not owner then return end
  if before then call('ZREM', key('jobs_of', owner .. ':' .. before), job) end
  call('ZADD', key('jobs_of', owner .. ':' .. status), created, job)
end

local function set_status(job, status)
  index_job(job, status, call('HGET', key('job', job), 'status'))
  call('HSET', key('job', job), 'status', status)
  emit(job, 'status')
end

-- Counts a response among its job's failures by type, if it is one; `by` is -1 when it is taken back.
local function count_failure(job, response, by)
  local failure = call('HMGET', response, 'failure', 'retryable')
  if failure[1] then call('HINCRBY', key('job', job), 'failure:' .. failure[1], by) end
  if failure[2] then call('HINCRBY', key('job', job), 'retryable', by) end
end

-- Adds what responses took to the sums of their job: numbers by name, keys of rasters, and the slowest rendering.
local function count_usage(job, sums, shown, seconds, image)
  for name, amount in pairs(sums) do
    if amount > 0 then call('HINCRBY', key('job', job), 'sum:' .. name, string.format('%d', amount)) end
  end
  if #shown == 0 then return end
  local new = 0
  for first = 1, #shown, 1000 do
    new = new + call('SADD', key('rasters', job), unpack(shown, first, math.min(first + 999, #shown)))
  end
  if new > 0 then call('HINCRBY', key('job', job), 'sum:rasters', new) end
  if seconds > 0 and seconds > number(job, 'sum:slowest_seconds') then
    call('HSET', key('job', job), 'sum:slowest_seconds', tostring(seconds), 'sum:slowest_image', image)
  end
end

local INTERACTIVE = ':interactive'  -- behind an owner's name, which has no colon

-- Counts requests of a job among those outstanding, among its owner's, and among those of his that go before others'.
local function take_room(job, requests)
  call('INCRBY', key('outstanding'), requests)
  local owner, interactive = unpack(call('HMGET', key('job', job), 'owner', 'interactive_limit'))
  if not owner then return end
  for _, name in ipairs(interactive and {owner, owner .. INTERACTIVE} or {owner}) do
    if call('HINCRBY', key('queued'), name, requests) <= 0 then call('HDEL', key('queued'), name) end
  end
end

local function exceeds(name, requests, most)
  return most and tonumber(call('HGET', key('queued'), name) or 0) + requests > most
end

-- Why so many requests have no room: `full` for all, `quota` for those of an owner, who may have `most`, `interactive`
-- for those of his that go before others', of which he may have `most_interactive`; nil when they have it.
local function no_room(requests, limit, owner, most, most_interactive)
  if tonumber(call('GET', key('outstanding')) or 0) + requests > limit then return 'full' end
  if owner and exceeds(owner, requests, most) then return 'quota' end
  if owner and exceeds(owner .. INTERACTIVE, requests, most_interactive) then return 'interactive' end
end

-- The same of a job that is there.
local function no_room_for(job, requests, limit)
  local owner, most, most_interactive = unpack(call('HMGET', key('job', job), 'owner', 'queued_limit',
    'interactive_limit'))
  return no_room(requests, limit, owner, tonumber(most), tonumber(most_interactive))
end

-- Gives requests of the job's reservation back to the queue's limit.
local function release(job, requests)
  requests = math.min(requests, number(job, 'reserved'))
  if requests > 0 then
    call('HINCRBY', key('job', job), 'reserved', -requests)
    take_room(job, -requests)
  end
end

-- Remaining requests and model of a bundle; nil when it is unknown or done.
local function bundle_state(job, bundle)
  local state = call('HGET', key('bundles', job), bundle)
  if not state then return nil end
  local remaining, model = string.match(state, '^(%d+) (.*)$')
  if remaining == '0' then return nil end
  return tonumber(remaining), model
end

-- Fields of a stream's entry by name.
local function fields_of(entry)
  local fields = {}
  for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
  return fields
end

local function set_remaining(job, bundle, remaining, model)
  call('HSET', key('bundles', job), bundle, remaining .. ' ' .. model)
end

local function take_lease(job, bundle, model)
  if call('SADD', key('leased', job), bundle) == 1 then
    call('HINCRBY', key('depth'), 'waiting:' .. model, -1)
    call('HINCRBY', key('depth'), 'leased:' .. model, 1)
  end
end

local function end_lease(job, bundle, model)
  if call('SREM', key('leased', job), bundle) == 1 then
    call('HINCRBY', key('depth'), 'leased:' .. model, -1)
    call('HINCRBY', key('depth'), 'waiting:' .. model, 1)
  end
end

-- Nothing is left to do for the bundle: answered or dropped. Its id stays known, so that a repeated enqueue skips it.
local function close_bundle(job, bundle, model)
  end_lease(job, bundle, model)
  call('HINCRBY', key('depth'), 'waiting:' .. model, -1)
  set_remaining(job, bundle, 0, model)
  call('HDEL', key('payloads', job), bundle)
  call('HDEL', key('suspects', job), bundle)
  return call('HINCRBY', key('job', job), 'open', -1)
end

-- Counts a job among those that took no longer than so many seconds from submission to end.
local function tally_duration(job, status)
  local created, hidden_as = unpack(call('HMGET', key('job', job), 'created_at', 'hidden'))
  local microseconds = math.max(0, tonumber(now()) - tonumber(created))
  local bound = '+Inf'
  for i = #JOB_SECONDS, 1, -1 do
    if microseconds <= 1000000 * JOB_SECONDS[i] then bound = JOB_SECONDS[i] end
  end
  local of = (hidden_as or 'job') .. ' ' .. status
  tally('job_seconds ' .. of .. ' ' .. bound, 1)
  tally('job_microseconds ' .. of, microseconds)
end

-- A final status: whatever is left of the job's bundles and reservation goes.
local function finish(job, status)
  if number(job, 'open') > 0 then
    local bundles = call('HKEYS', key('bundles', job))
    for _, bundle in ipairs(bundles) do
      local remaining, model = bundle_state(job, bundle)
      if remaining then close_bundle(job, bundle, model) end
    end
  end
  release(job, number(job, 'reserved'))
  call('UNLINK', key('bundles', job), key('payloads', job), key('leased', job), key('suspects', job))
  call('HSET', key('job', job), 'finished_at', now(), 'open', 0)
  tally_duration(job, status)
  set_status(job, status)
  if status ~= 'completed' then tell_listener(job) end
end

local function finish_if_all_done(job)
  local n = call('HMGET', key('job', job), 'status', 'total', 'completed', 'failed', 'open')
  if n[1] == 'cancelling' and tonumber(n[5]) <= 0 then
    finish(job, 'cancelled')
  elseif n[1] == 'in_progress' and tonumber(n[3]) + tonumber(n[4]) >= tonumber(n[2]) then
    set_status(job, 'finalizing')
    finish(job, 'completed')
  end
end

-- Drops a bundle of a job that is being cancelled.
local function drop_bundle(job, bundle, remaining, model)
  release(job, remaining)
  close_bundle(job, bundle, model)
  finish_if_all_done(job)
end

local function enqueue_bundle(job, bundle, requests, model, lane, image, payload)
  set_remaining(job, bundle, requests, model)
  call('HSET', key('payloads', job), bundle, payload)
  call('HINCRBY', key('job', job), 'open', 1)
  call('HINCRBY', key('depth'), 'waiting:' .. model, 1)
  call('SADD', key('models'), model)
  local fields, retries = {'job', job, 'bundle', bundle}, call('HGET', key('job', job), 'retries')
  if image ~= '' then fields[5], fields[6] = 'image', image end
  if retries then fields[#fields + 1], fields[#fields + 2] = 'retry', retries end
  call('XADD', lane, '*', unpack(fields))
end

-- The state of an entry's bundle; nil also where a retry of the job has put another entry in its place.
local function entry_state(f)
  if (f.retry or '0') ~= (call('HGET', key('job', f.job), 'retries') or '0') then return nil end
  return bundle_state(f.job, f.bundle)
end

-- The mark of a bundle on probation: the last delivery of which it is known what began in it, those in which its request
-- was begun and not heard of again (with commas), the request. Nothing where there is none.
local function mark_of(job, bundle)
  return string.match(call('HGET', key('suspects', job), bundle) or '', '^(%d+) ([%d,]*) (.*)$')
end

local function set_mark(job, bundle, last, begun, request)
  call('HSET', key('suspects', job), bundle, string.format('%d %s %s', last, begun, request))
end

-- A worker has lost its lease and lives: where it was on probation, that delivery was no death.
local function pardon(stream, id, delivery)
  local entry = call('XRANGE', stream, id, id)[1]
  local f = entry and fields_of(entry)
  if not f or not f.crashes or not entry_state(f) then return end
  local last, begun, request = mark_of(f.job, f.bundle)
  local kept = {}
  for other in string.gmatch(begun or '', '%d+') do
    if tonumber(other) ~= delivery then kept[#kept + 1] = other end
  end
  set_mark(f.job, f.bundle, math.max(tonumber(last) or 0, delivery), table.concat(kept, ','), request or '')
end

-- Entries are parked for a worker as pending ones of a consumer that is nobody.
local function parking(worker)
  return 'for:' .. worker
end

local function parked_are(model, worker, number)
  if number > 0 then
    call('ZADD', key('parked', model), number, worker)
  else
    call('ZREM', key('parked', model), worker)
  end
end

-- Notes how late it was when leases of a lane began, which `trim.lua` compares with how late it is then.
local function note_clock(stream)
  local at = now()
  if tonumber(at) > tonumber(call('HGET', key('clock'), stream) or 0) + 1000000 then
    redis.pcall('HSET', key('clock'), stream, at)
  end
end
