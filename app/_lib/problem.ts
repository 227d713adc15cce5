/** A fault with its place and a sentence in the reader's language. */
export interface ProblemFault {
  path: string;
  code: string;
  message: string;
}

/** An error as the pages show it. Sentences come from the server, in the reader's language. */
export interface ExplainedProblem {
  code: string;
  /** Empty when the portal could not be reached: the page has its own words for that. */
  message: string;
  requestId: string | undefined;
  faults: readonly ProblemFault[];
  /** The portal did not respond. */
  offline: boolean;
  /** HTTP status of the response, if any. */
  status: number | undefined;
}

/** Reads the error of a procedure (tRPC) or of an HTTP call (problem document), from whatever was thrown. */
export function problemOf(error: unknown): ExplainedProblem {
  const data = dataOf(error);
  if (data === undefined)
    return { code: 'offline', message: '', requestId: undefined, faults: [], offline: true, status: undefined };
  return {
    code: text(data.code) ?? 'internal',
    message: text(data.message) ?? text(data.detail) ?? messageOf(error),
    requestId: text(data.requestId),
    faults: faultsOf(data.faults ?? data.errors),
    offline: false,
    status:
      typeof data.httpStatus === 'number' ? data.httpStatus : typeof data.status === 'number' ? data.status : undefined,
  };
}

/** A problem document of a plain `fetch`, as the uploads and the sign-in use it. */
export async function problemOfResponse(response: Response): Promise<ExplainedProblem> {
  const body: unknown = await response.json().catch(() => undefined);
  const found = problemOf({ data: isRecord(body) ? body : {} });
  return {
    ...found,
    status: response.status,
    requestId: found.requestId ?? response.headers.get('x-request-id') ?? undefined,
  };
}

/** The fault at this path, for a field of a form. */
export function faultAt(problem: ExplainedProblem | undefined, path: string): string | undefined {
  return problem?.faults.find((fault) => fault.path === path)?.message;
}

function dataOf(error: unknown): Record<string, unknown> | undefined {
  if (!isRecord(error)) return undefined;
  return isRecord(error.data) ? error.data : undefined;
}

function faultsOf(value: unknown): ProblemFault[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map((fault) => ({
    path: text(fault.path) ?? '',
    code: text(fault.code) ?? '',
    message: text(fault.message) ?? text(fault.detail) ?? '',
  }));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
