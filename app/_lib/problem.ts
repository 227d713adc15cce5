/** A fault with its path and a sentence in the reader's language. */
export interface ProblemFault {
  path: string;
  code: string;
  message: string;
  /** The line of the fault, in the text at `path`, if it is known. */
  line?: number | undefined;
}

/** An error in the form that pages show. Its sentences come from the server, in the reader's language. */
export interface ExplainedProblem {
  code: string;
  /** Empty if the portal could not be reached; pages have their own text for that. */
  message: string;
  requestId: string | undefined;
  faults: readonly ProblemFault[];
  /** Whether the portal did not respond. */
  offline: boolean;
  /** HTTP status of the response, if any. */
  status: number | undefined;
}

/** Converts any error thrown by a tRPC procedure or an HTTP request into the form that pages show. */
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

/** Reads the problem document in the response to an HTTP request outside tRPC, such as an upload or a sign-in. */
export async function problemOfResponse(response: Response): Promise<ExplainedProblem> {
  const body: unknown = await response.json().catch(() => undefined);
  const found = problemOf({ data: isRecord(body) ? body : {} });
  return {
    ...found,
    status: response.status,
    requestId: found.requestId ?? response.headers.get('x-request-id') ?? undefined,
  };
}

/** Returns the sentence of the fault at this path, for a form field; undefined if there is none. */
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
    ...(typeof fault.line === 'number' && { line: fault.line }),
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
