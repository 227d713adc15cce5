import { type ExplainedProblem, problemOfResponse } from './problem.ts';

/** The error of an HTTP request outside tRPC. `problemOf` reads its `data`. */
export class DoorError extends Error {
  override readonly name = 'DoorError';
  readonly data: ExplainedProblem;

  constructor(problem: ExplainedProblem) {
    super(problem.message);
    this.data = problem;
  }
}

/** Posts a body as JSON. Throws `DoorError` if the portal rejects it. */
export async function postJson(path: string, body: unknown): Promise<Response> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new DoorError(await problemOfResponse(response));
  return response;
}
