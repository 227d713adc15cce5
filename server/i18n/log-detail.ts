/** What the log keeps of an error. */
export interface LogDetail {
  name: string;
  message: string;
  code?: string;
  /** Of a failed statement: which table and rule, never its values. */
  table?: string;
  constraint?: string;
  /** The statement's text with its placeholders. */
  query?: string;
  stack?: string;
  cause?: LogDetail;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A statement's failure repeats its values in message and stack, and they may be somebody's settings (AZ-C2). */
function isStatementFailure(error: Error): boolean {
  return 'query' in error && 'params' in error;
}

/**
 * An error as the log may keep it: with stack and causes, but without the values of statements, which drizzle puts
 * into its message and PostgreSQL into `detail` and `where`.
 */
export function logDetail(error: unknown, depth = 0): LogDetail {
  if (!(error instanceof Error)) return { name: typeof error, message: 'something that is no error was thrown' };
  const fields = error as Error & Record<string, unknown>;
  const silent = isStatementFailure(error);
  const frames = error.stack?.slice(error.stack.indexOf('\n    at ') + 1);
  return {
    name: error.name,
    message: silent ? 'a statement failed' : error.message,
    code: text(fields.code),
    table: text(fields.table),
    constraint: text(fields.constraint),
    query: silent ? text(fields.query) : undefined,
    stack: frames,
    cause: error.cause === undefined || depth > 4 ? undefined : logDetail(error.cause, depth + 1),
  };
}
