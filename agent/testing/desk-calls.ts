import { gunzipSync } from 'node:zlib';
import { crashPoint } from '../folder/crash-point.ts';
import { type UnitCalls, unitCalls } from '../portal/unit-calls.ts';
import type { UnitDesk } from './unit-desk.ts';

/** Returns the calls of an agent whose portal is in the same process. */
export function deskCalls(desk: UnitDesk): UnitCalls {
  return unitCalls(async ({ method, path, headers = {}, body = '' }) => {
    crashPoint(`${method} ${path}`);
    const [where = '', query] = path.split('?');
    const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : Buffer.from(body);
    const answer = desk.answer(method, where, new URLSearchParams(query), bytes, headers['content-range']);
    crashPoint(`answered ${method} ${path}`);
    return { status: answer.status, headers: answer.headers ?? {}, text: JSON.stringify(answer.body ?? null) };
  });
}
