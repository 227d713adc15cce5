import { type DestinationStream, type Logger, pino } from 'pino';

/** Names of properties that contain secrets. They are redacted in the top four levels of a log entry. */
const secretNames = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'protectedSettings',
  'settings',
  'secretKey',
  'databaseUrl',
  'token',
  'enrollmentToken',
  'credential',
  'annex-agent',
  'x-guest-token',
  'tenantKey',
  'privateKey',
];

const redacted = secretNames.flatMap((name) => {
  const key = /^\w+$/.test(name) ? name : `["${name}"]`;
  return ['', '*', '*.*', '*.*.*'].map((place) =>
    place === '' ? key : key.startsWith('[') ? `${place}${key}` : `${place}.${key}`,
  );
});

/**
 * Creates the process's logger, which writes JSON lines to standard output. It logs only the standard fields of errors,
 * because database drivers add the values of statements to errors.
 */
export function createLogger(room: string, level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: { room },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redacted, censor: '[redacted]' },
      serializers: { err: plainError, error: plainError },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

interface PlainError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: PlainError;
}

function plainError(error: unknown): PlainError | unknown {
  if (!(error instanceof Error)) return error;
  const code = (error as { code?: unknown }).code;
  // Drizzle's message contains the statement and its values; its cause is the driver's error.
  const message =
    error.name === 'DrizzleQueryError' || 'query' in error ? 'A database statement failed' : error.message;
  return {
    type: error.name,
    message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack.slice(error.stack.search(/\n\s+at /) + 1) }),
    ...(error.cause instanceof Error ? { cause: plainError(error.cause) as PlainError } : {}),
  };
}
