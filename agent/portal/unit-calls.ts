import { gzipSync } from 'node:zlib';
import {
  nodeDocument,
  type RelationNode,
  type ServiceSettings,
  type SkippedHooks,
  serviceSettings,
} from '#protocol/index.ts';
import type { PortalCall, PortalResponse } from './call.ts';
import { PortalRefusal, secondsIn } from './refusal.ts';

/** News about this machine's units, from a response of the portal. */
export interface UnitNews {
  /** Identifies what the machine's units should be; null if the portal does not say. */
  stamp: string | null;
  /** Seconds to wait before the unit state is fetched, so that many machines do not fetch theirs at the same time. */
  after: number;
}

export interface UnitStateAnswer {
  /** JSON text. */
  text: string;
  stamp: string | null;
}

/** What an agent already has of the unit state: for each relation, the clock up to which it has it. */
export interface HeldUnitState {
  /** Id of the current boot; absent if the system provides none. */
  boot?: string;
  epoch?: string;
  after?: string;
}

/** A part of the output of a hook. */
export interface RunLogPiece {
  /** Offset of the piece within the output. */
  from: number;
  /** Size of the whole output; null while more may be added. */
  total: number | null;
  bytes: Buffer;
}

/** The part of the portal's API for units and their hooks. */
export interface UnitCalls {
  /** Returns what the machine's units should be. `held` names what the agent already has, and the machine's boot. */
  unitState(held: HeldUnitState, signal?: AbortSignal): Promise<UnitStateAnswer>;
  /** Reads the settings of the unit `of` in a relation. */
  readNode(unit: string, relation: number, of: string): Promise<RelationNode>;
  /** Reads the settings of a unit's service. */
  readServiceSettings(unit: string): Promise<ServiceSettings>;
  /** Begins or ends a run. `body` is JSON text. Can be repeated. */
  putRun(unit: string, run: string, body: string, signal?: AbortSignal): Promise<void>;
  /** Uploads a part of a run's output. Returns the number of bytes that the portal has without a gap. */
  sendRunLog(unit: string, run: string, piece: RunLogPiece, signal?: AbortSignal): Promise<number>;
  /** Reports hooks that count as done without a run. */
  skipHooks(unit: string, hooks: SkippedHooks, signal?: AbortSignal): Promise<void>;
  /** Reports that a leaving unit was removed from the machine. */
  removeUnit(unit: string, signal?: AbortSignal): Promise<void>;
}

/** How long a hook waits for a response to its begin, in seconds. Nothing else runs on the machine meanwhile. */
const beginSeconds = 15;

/** Returns the part of the portal's API for units. `send` makes the requests. */
export function unitCalls(send: PortalCall): UnitCalls {
  const json = { 'content-type': 'application/json' };
  const get = async (path: string, signal?: AbortSignal) => {
    const answer = await send({ method: 'GET', path, idleSeconds: 30, signal });
    if (answer.status !== 200) throw new PortalRefusal(answer);
    return answer;
  };
  return {
    async unitState(held, signal) {
      const query = new URLSearchParams({ ...held });
      const answer = await get(`/agent/v1/units${query.size === 0 ? '' : `?${query}`}`, signal);
      return { text: answer.text, stamp: unitNews(answer).stamp };
    },

    async readNode(unit, relation, of) {
      const { text } = await get(`/agent/v1/units/${unit}/relations/${relation}/${of}`);
      return nodeDocument.parse(JSON.parse(text));
    },

    async readServiceSettings(unit) {
      return serviceSettings.parse(JSON.parse((await get(`/agent/v1/units/${unit}/settings`)).text));
    },

    async putRun(unit, run, body, signal) {
      const path = `/agent/v1/units/${unit}/runs/${run}`;
      const answer = await send({ method: 'PUT', path, headers: json, body, idleSeconds: beginSeconds, signal });
      if (answer.status !== 200) throw new PortalRefusal(answer);
    },

    async sendRunLog(unit, run, piece, signal) {
      const answer = await send({
        method: 'POST',
        path: `/agent/v1/units/${unit}/runs/${run}/log`,
        headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip', 'content-range': rangeOf(piece) },
        body: gzipSync(piece.bytes),
        idleSeconds: 60,
        signal,
      });
      if (answer.status !== 204) throw new PortalRefusal(answer);
      const received = Number(answer.headers['annex-output-bytes'] ?? Number.NaN);
      return Number.isInteger(received) && received >= 0 ? received : piece.from + piece.bytes.length;
    },

    async skipHooks(unit, hooks, signal) {
      const path = `/agent/v1/units/${unit}/skipped`;
      const body = JSON.stringify(hooks);
      const answer = await send({ method: 'POST', path, headers: json, body, idleSeconds: 30, signal });
      if (answer.status !== 204) throw new PortalRefusal(answer);
    },

    async removeUnit(unit, signal) {
      const answer = await send({ method: 'DELETE', path: `/agent/v1/units/${unit}`, idleSeconds: 30, signal });
      if (answer.status !== 204) throw new PortalRefusal(answer);
    },
  };
}

/** Returns the header `Annex-Units` of a request; none for an agent without units. */
export function unitHeader(stamp: string | null): { 'annex-units'?: string } {
  if (stamp === null) return {};
  return { 'annex-units': stamp === '' ? '' : `"${stamp}"` };
}

/** Parses the headers `Annex-Units` and `Annex-Units-After`. */
export function unitNews({ headers }: Pick<PortalResponse, 'headers'>): UnitNews {
  const stamp = /^"?([!#-~]{1,200}?)"?$/.exec(String(headers['annex-units'] ?? ''))?.[1] ?? null;
  return { stamp, after: secondsIn(headers['annex-units-after']) ?? 0 };
}

function rangeOf({ from, total, bytes }: RunLogPiece): string {
  return `bytes ${from}-${from + bytes.length - 1}/${total ?? '*'}`;
}
