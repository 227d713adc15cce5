import { gzipSync } from 'node:zlib';
import type { ExecutionProgress, PlatformReport } from '#protocol/executions/index.ts';
import type { PortalCall, PortalResponse } from './call.ts';
import { PortalRefusal, secondsIn } from './refusal.ts';

/** News about this machine's executions, from a response of the portal. */
export interface ExecutionNews {
  /** Stamp and turn of the oldest execution that waits for this machine; null if there is none. */
  waiting: { stamp: number; turn: number } | null;
  /** The stamp of the execution that this machine should end; null if there is none. */
  cancel: number | null;
}

/** No news about executions. */
export const noExecutions: ExecutionNews = { waiting: null, cancel: null };

/** A part of an execution's transcript. */
export interface TranscriptPiece {
  /** Offset of the piece within the transcript. */
  from: number;
  /** Size of the whole transcript; null while more may be added. */
  total: number | null;
  bytes: Buffer;
}

/** The part of the portal's API for execution plans. */
export interface ExecutionCalls {
  /**
   * Returns the envelope of the next execution as JSON text; null if there is none. Call this only if this machine has
   * no open execution.
   */
  nextExecution(signal?: AbortSignal): Promise<string | null>;
  /**
   * Reports the progress of an execution. Returns how many seconds to wait before the next report; null if the portal
   * does not say.
   */
  sendProgress(id: string, body: ExecutionProgress, signal?: AbortSignal): Promise<number | null>;
  /**
   * Uploads a piece of a transcript. `received` is the number of bytes that the portal has from the start without a
   * gap; `nextAfter` is how many seconds to wait before the next piece, or null.
   */
  sendTranscript(
    id: string,
    piece: TranscriptPiece,
    signal?: AbortSignal,
  ): Promise<{ received: number; nextAfter: number | null }>;
  /** Sends the result, which is JSON text. */
  sendResult(id: string, result: string, signal?: AbortSignal): Promise<void>;
  /** Reports what this machine can run. */
  tellPlatforms(report: PlatformReport, signal?: AbortSignal): Promise<void>;
}

/** Returns the part of the portal's API for execution plans. `send` makes the requests. */
export function executionCalls(send: PortalCall): ExecutionCalls {
  const json = { 'content-type': 'application/json' };
  const path = (id: string, what: string) => `/agent/v1/executions/${encodeURIComponent(id)}/${what}`;
  const nextAfter = ({ headers }: PortalResponse) => secondsIn(headers['annex-next-after']);
  const put = async (where: string, body: string, signal?: AbortSignal) => {
    const answer = await send({ method: 'PUT', path: where, headers: json, body, idleSeconds: 30, signal });
    if (answer.status !== 204) throw new PortalRefusal(answer);
    return answer;
  };
  return {
    async nextExecution(signal) {
      const answer = await send({ method: 'GET', path: '/agent/v1/executions/next', idleSeconds: 30, signal });
      if (answer.status === 204) return null;
      if (answer.status !== 200) throw new PortalRefusal(answer);
      return answer.text;
    },

    async sendProgress(id, body, signal) {
      return nextAfter(await put(path(id, 'progress'), JSON.stringify(body), signal));
    },

    async sendTranscript(id, { from, total, bytes }, signal) {
      const answer = await send({
        method: 'POST',
        path: path(id, 'transcript'),
        headers: {
          'content-type': 'application/jsonl',
          'content-encoding': 'gzip',
          'content-range': `bytes ${from}-${from + bytes.length - 1}/${total ?? '*'}`,
        },
        body: gzipSync(bytes),
        idleSeconds: 60,
        signal,
      });
      if (answer.status !== 204) throw new PortalRefusal(answer);
      const received = Number(answer.headers['annex-output-bytes']);
      return { received: Number.isInteger(received) ? received : from + bytes.length, nextAfter: nextAfter(answer) };
    },

    async sendResult(id, result, signal) {
      await put(path(id, 'result'), result, signal);
    },

    async tellPlatforms(report, signal) {
      await put('/agent/v1/platforms', JSON.stringify(report), signal);
    },
  };
}

/** Parses the headers `Annex-Execution: <stamp>; turn=<turn>` and `Annex-Execution-Cancel: <stamp>`. */
export function executionNews({ headers }: PortalResponse): ExecutionNews {
  const [, stamp, turn] = /^(\d{1,16}); *turn=(\d{1,16})$/.exec(String(headers['annex-execution'] ?? '')) ?? [];
  const cancel = /^\d{1,16}$/.exec(String(headers['annex-execution-cancel'] ?? ''))?.[0];
  return {
    waiting: stamp === undefined ? null : { stamp: Number(stamp), turn: Number(turn) },
    cancel: cancel === undefined ? null : Number(cancel),
  };
}
