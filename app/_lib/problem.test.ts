import { describe, expect, it } from 'vitest';
import { DoorError } from './post-json.ts';
import { faultAt, problemOf, problemOfResponse } from './problem.ts';
import { safeNext } from './sign-in.ts';

const fault = { path: '/name', code: 'name_taken', message: 'This name is taken.' };

describe('problemOf', () => {
  it('reads the data of a tRPC error', () => {
    const data = {
      code: 'invalid',
      message: 'The request is not valid.',
      requestId: 'r1',
      httpStatus: 422,
      faults: [fault],
    };
    const problem = problemOf(Object.assign(new Error('raw'), { data }));
    expect(problem).toMatchObject({
      code: 'invalid',
      message: data.message,
      requestId: 'r1',
      status: 422,
      offline: false,
    });
    expect(faultAt(problem, '/name')).toBe('This name is taken.');
    expect(faultAt(problem, '/role')).toBeUndefined();
  });

  it('reads a problem document, on its own or inside an error', async () => {
    const body = { status: 429, code: 'rate_limited', detail: 'Wait 10 s.', requestId: 'r2', errors: [] };
    const problem = await problemOfResponse(Response.json(body, { status: 429 }));
    expect(problem).toMatchObject({ code: 'rate_limited', message: 'Wait 10 s.', requestId: 'r2', status: 429 });
    expect(problemOf(new DoorError(problem))).toMatchObject({
      code: 'rate_limited',
      message: 'Wait 10 s.',
      status: 429,
    });
  });

  it('accepts a response that is not a problem document', async () => {
    const problem = await problemOfResponse(new Response('<html>', { status: 502, headers: { 'x-request-id': 'r3' } }));
    expect(problem).toMatchObject({ code: 'internal', message: '', requestId: 'r3', status: 502, offline: false });
  });

  it('treats a missing response as an unreachable portal', () => {
    expect(problemOf(new TypeError('Failed to fetch')).offline).toBe(true);
  });
});

describe('safeNext', () => {
  it.each([
    [undefined, '/'],
    ['/vms/a?tab=output', '/vms/a?tab=output'],
    ['https://evil.example', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['/\n\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['/vms"><script>', '/vms%22%3E%3Cscript%3E'],
    ['javascript:alert(1)', '/'],
  ])('%s', (next, expected) => {
    expect(safeNext(next)).toBe(expected);
  });
});
