-- Atomic: bundles pass to the worker together with their payloads; dead and cancelled ones are acknowledged instead.
-- Who leases a bundle owns its image: new bundles about it are parked for the owner, while that claims and has room.
-- ARGV: worker, slots, requests, room, lease in ms, highest number of attempts, ms until what is parked for others is
-- taken (0: nothing is parked), '1' for the probation lane alone, then triples of lane, probation lane of the same
-- model, and the model where its bundles may be parked, or ''
-- Returns {more to look at, leases}.
local worker, slots, requests, room = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local lease_ms, max_attempts, defer_ms = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local on_probation = ARGV[8] == '1'
local SCANNED = 64
local HANDED_BACK_MS = 1000000000 -- which no lease that ran out is idle for
local steps, scan, leases = 1000, SCANNED, {}

local function is_full()
  return #leases >= slots or requests <= 0 or steps <= 0
end

-- The other worker that is there, has room, and whose image it is.
local function owner_of(model, image, remaining)
  local owner = call('GET', key('owner', model .. ':' .. image))
  if not owner or owner == worker then return nil end
  local its_room = call('GET', key('room', model .. ':' .. owner))
  if not its_room then return nil end
  local parked = tonumber(call('ZSCORE', key('parked', model), owner) or 0)
  return parked * remaining < tonumber(its_room) and owner or nil
end

local function park(stream, id, model, owner)
  call('XCLAIM', stream, GROUP, parking(owner), 0, id, 'IDLE', 0, 'RETRYCOUNT', 0, 'JUSTID')
  call('ZINCRBY', key('parked', model), 1, owner)
  scan = scan - 1
end

local function offer(stream, entry, attempt, parks, ran_out)
  steps = steps - 1
  local f = fields_of(entry)
  local status = call('HGET', key('job', f.job), 'status')
  local remaining, model = entry_state(f)
  if not status or FINAL[status] or not remaining then
    call('XACK', stream, GROUP, entry[1])
    return
  end
  if status == 'cancelling' then
    call('XACK', stream, GROUP, entry[1])
    drop_bundle(f.job, f.bundle, remaining, model)
    return
  end
  if f.image and defer_ms > 0 then
    local owner = parks and owner_of(model, f.image, remaining)
    if owner then return park(stream, entry[1], model, owner) end
    call('SET', key('owner', model .. ':' .. f.image), worker, 'PX', OWNED_MS)
  end
  if ran_out then tally('reclaims ' .. model, 1) end
  take_lease(f.job, f.bundle, model)
  requests = requests - remaining
  local queued = tonumber(now()) / 1000 - tonumber(f.queued or string.match(entry[1], '^%d+'))
  leases[#leases + 1] = {stream, entry[1], attempt, math.floor(queued), f.crashes or 0, f.job, f.bundle,
    call('HGET', key('payloads', f.job), f.bundle), call('HGET', key('suspects', f.job), f.bundle) or ''}
end

-- Leases a pending entry; `p` is what XPENDING tells of it.
local function take(stream, p, model, parked_for)
  if parked_for then
    parked_are(model, parked_for, tonumber(call('ZSCORE', key('parked', model), parked_for) or 1) - 1)
  end
  local entry = call('XCLAIM', stream, GROUP, worker, 0, p[1])[1]
  if entry then offer(stream, entry, p[4] + 1, false, not parked_for and p[3] < HANDED_BACK_MS) end
end

-- The last attempt of a bundle is due: it leaves its lane for the probation lane, where nobody waits beside it.
local function to_probation(stream, probation, p)
  local id, attempts = p[1], p[4]
  steps = steps - 1
  local entry = call('XRANGE', stream, id, id)[1]
  call('XACK', stream, GROUP, id)
  if not entry then return end
  local f = fields_of(entry)
  local remaining, model = entry_state(f)
  if not remaining then return end
  if p[3] < HANDED_BACK_MS then tally('reclaims ' .. model, 1) end
  end_lease(f.job, f.bundle, model)
  call('XADD', probation, '*', 'job', f.job, 'bundle', f.bundle, 'queued', string.match(id, '^%d+'),
    'crashes', attempts, 'retry', f.retry or '0')
end

local function reclaim(stream, probation, model)
  local expired = call('XPENDING', stream, GROUP, 'IDLE', lease_ms, '-', '+', slots - #leases)
  for _, p in ipairs(expired) do
    if is_full() then break end
    if not on_probation and p[4] >= math.max(1, max_attempts - 1) then
      to_probation(stream, probation, p)
    else
      take(stream, p, model, string.match(p[2], '^for:(.*)$'))
    end
  end
  return #expired > 0
end

local function take_mine(stream, model)
  local mine = call('XPENDING', stream, GROUP, '-', '+', slots - #leases, parking(worker))
  for _, p in ipairs(mine) do
    if is_full() then break end
    take(stream, p, model, worker)
  end
  return #mine > 0
end

-- One at a time: what is read cannot be left, and how many requests it has shows then only.
local function read_new(stream, parks)
  local read = call('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', 1, 'STREAMS', stream, '>')
  if not read then return false end
  offer(stream, read[1][2][1], 1, parks)
  return true
end

-- Of the longest rows of parked bundles in which one waits too long, the later half: their owners come to that last.
local function steal(stream, model)
  for _, owner in ipairs(call('ZREVRANGE', key('parked', model), 0, SCANNED - 1)) do
    local wait = call('EXISTS', key('room', model .. ':' .. owner)) == 1 and defer_ms or 0
    if #call('XPENDING', stream, GROUP, 'IDLE', wait, '-', '+', 1, parking(owner)) > 0 then
      local parked = call('XPENDING', stream, GROUP, '-', '+', 1000, parking(owner))
      for i = #parked, math.floor(#parked / 2) + 1, -1 do
        if is_full() then return end
        take(stream, parked[i], model, owner)
      end
    elseif wait == 0 then
      call('ZREM', key('parked', model), owner)
    end
  end
end

local function each_lane(visit)
  for i = 9, #ARGV, 3 do visit(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
end

local function has_parked(model)
  return defer_ms > 0 and model ~= '' and not on_probation
end

each_lane(function(lane_key, probation, model)
  local stream, parks = on_probation and probation or lane_key, has_parked(model)
  if parks then call('SET', key('room', model .. ':' .. worker), room, 'PX', lease_ms) end
  while not is_full() and reclaim(stream, probation, model) do end
  while parks and not is_full() and take_mine(stream, model) do end
  while not is_full() and scan > 0 and read_new(stream, parks) do end
end)
each_lane(function(lane_key, _, model)
  if has_parked(model) and not is_full() and scan > 0 then steal(lane_key, model) end
end)
for _, lease in ipairs(leases) do note_clock(lease[1]) end
return {(steps <= 0 or scan <= 0) and 1 or 0, leases}
