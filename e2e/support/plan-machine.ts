import { examplePlan, resultOf } from '#server/domain/executions/testing/example.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import type { CreatedVm } from './api.ts';

/** A row of a transcript: milliseconds, kind, and further values that depend on the kind. */
export type TranscriptRow = readonly [number, string, ...unknown[]];

/** A plan with a script that prints a line. */
export const helloPlan = { ...examplePlan, Name: 'Rotate certificates', Version: '1.2.0' };

/** What the agent of a role sends about the role. */
export interface StatedInstance {
  id: string;
  address: string;
}

/** Enrolls a simulated machine. Returns functions for its calls to the agents' API. */
export async function enrollPlanMachine(
  url: string,
  vm: Pick<CreatedVm, 'enrollmentToken'>,
  instance?: StatedInstance,
) {
  const { certificate } = newKeyPair();
  const agent = { name: 'plan-machine', version: '1.0' };
  const answer = await fetch(`${url}/agent/v1/enroll`, {
    method: 'POST',
    body: JSON.stringify({ enrollmentToken: vm.enrollmentToken, certificate, agent, instance }),
  });
  if (answer.status !== 201) throw new Error(`enrollment answered ${answer.status}: ${await answer.text()}`);
  const { credential } = (await answer.json()) as { credential: string };
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${credential}` };
    const response = await fetch(`${url}/agent/v1${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };
  const put = (path: string, body: unknown) => call(path, { method: 'PUT', body: JSON.stringify(body) });
  await call('/goal-state');
  let sent = 0;
  return {
    /** Fetches the goal state. */
    poll: () => call('/goal-state'),
    /** Sends a report. */
    report: (body: object) => call('/reports', { method: 'POST', body: JSON.stringify(body) }),
    /** Takes the next execution and confirms it. */
    async take(): Promise<string> {
      const response = await call('/executions/next');
      if (response.status === 204) throw new Error('No execution waits for this machine.');
      const { id } = (await response.json()) as { id: string };
      sent = 0;
      await put(`/executions/${id}/progress`, { run: 1, state: 'received', sentMsAgo: 0 });
      return id;
    },
    run: (id: string, calls: object[] = []) =>
      put(`/executions/${id}/progress`, { run: 1, state: 'running', sentMsAgo: 0, calls }),
    /** Sends further rows of the transcript. */
    async write(id: string, rows: readonly TranscriptRow[]): Promise<void> {
      const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const range = `bytes ${sent}-${sent + bytes.length - 1}/*`;
      await call(`/executions/${id}/transcript`, {
        method: 'POST',
        body: new Uint8Array(bytes),
        headers: { 'content-type': 'application/jsonl', 'content-range': range },
      });
      sent += bytes.length;
    },
    /** Sends the result. IDs of results have no hyphens. */
    end: (id: string, code: number, body: unknown) =>
      put(`/executions/${id}/result`, resultOf(id, { ID: id.replaceAll('-', ''), ErrorCode: code, Body: body })),
  };
}
