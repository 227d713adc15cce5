import { skippedHooks, unitRun } from '#protocol/unit-runs.ts';
import { parse } from '#server/domain/parse.ts';
import {
  beginRun,
  confirmRemoval,
  endRun,
  getUnitSettings,
  getUnitState,
  receiveRunLog,
  skipHooks,
} from '#server/domain/services/index.ts';
import { admit } from '../../authenticate.ts';
import { readJson } from '../../body.ts';
import { type AgentAnswer, type AgentCall, contextOf } from '../../call.ts';
import { readRange, unpacked } from '../logs/route.ts';

/** Maximum size of the end of a run: 64 nodes, the end of the output, and the versions that the hook read. */
const runBytes = 1024 * 1024;
const noStore = ['cache-control', 'no-store', 'content-type', 'application/json'];

/** `GET /agent/v1/units?epoch=&after=&boot=`: returns the VM's units and their goals, with the stamp of this state. */
export async function unitState(call: AgentCall): Promise<AgentAnswer> {
  const { agent } = await admit(call);
  const query = new URLSearchParams(call.query);
  const boot = query.get('boot');
  const { state, stamp } = await getUnitState(contextOf(call, agent), {
    vmId: agent.vmId,
    epoch: query.get('epoch'),
    after: query.get('after') ?? '',
    boot: boot === null ? null : boot.slice(0, 128),
  });
  return { status: 200, headers: [...noStore, 'annex-units', stamp], body: JSON.stringify(state) };
}

/** `GET /agent/v1/units/{unit}/settings`: returns the settings of the unit's service. */
export async function unitSettings(call: AgentCall, unit: string): Promise<AgentAnswer> {
  const { agent } = await admit(call);
  const document = await getUnitSettings(contextOf(call, agent), agent.vmId, unit);
  return { status: 200, headers: noStore, body: JSON.stringify(document) };
}

/** `PUT /agent/v1/units/{unit}/runs/{run}`: begins or ends a run of a hook. Both may be repeated. */
export async function unitRunPhase(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const { agent } = await admit(call);
  const { value } = await readJson(call, runBytes);
  const phase = parse(unitRun, value, 'bad_request');
  const name = { vmId: agent.vmId, unit: match[1] ?? '', run: match[2] ?? '' };
  const ctx = contextOf(call, agent);
  return Response.json(phase.phase === 'begin' ? await beginRun(ctx, name, phase) : await endRun(ctx, name, phase));
}

/** `POST /agent/v1/units/{unit}/runs/{run}/log`: stores a part of a hook's output, as `POST /logs` does. */
export async function unitRunLog(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const { agent } = await admit(call);
  const range = readRange(call.header('content-range'));
  const name = { vmId: agent.vmId, unit: match[1] ?? '', run: match[2] ?? '' };
  const { received } = await receiveRunLog(contextOf(call, agent), name, range, unpacked(call));
  return new Response(null, { status: 204, headers: { 'annex-output-bytes': String(received) } });
}

/** `POST /agent/v1/units/{unit}/skipped`: stores that hooks count as done. */
export async function unitSkipped(call: AgentCall, unit: string): Promise<AgentAnswer> {
  const { agent } = await admit(call);
  const { value } = await readJson(call, runBytes);
  const skipped = parse(skippedHooks, value, 'bad_request');
  await skipHooks(contextOf(call, agent), { vmId: agent.vmId, unit }, skipped);
  return { status: 204, headers: [], body: null };
}

/** `DELETE /agent/v1/units/{unit}`: a leaving unit is off the machine. */
export async function unitRemoved(call: AgentCall, unit: string): Promise<AgentAnswer> {
  const { agent } = await admit(call);
  await confirmRemoval(contextOf(call, agent), agent.vmId, unit);
  return { status: 204, headers: [], body: null };
}
