/** The error of a failed call. The Body receives it as an exception. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly type: string;
  /** The error code of the execution if the Body does not catch the exception. */
  readonly code: number;
  readonly info: unknown;
  /** The stack in another process, such as that of a Python script. */
  readonly stackLines: string[];
  /** Exceptions in another process that caused this error. */
  readonly causes: unknown[];

  constructor(
    type: string,
    message: string,
    {
      code = 1,
      info = null,
      stack = [],
      causes = [],
    }: { code?: number; info?: unknown; stack?: string[]; causes?: unknown[] } = {},
  ) {
    super(message);
    this.type = type;
    this.code = code;
    this.info = info;
    this.stackLines = stack;
    this.causes = causes;
  }

  /** The error as it appears in a frame for the Body. */
  get frame(): Record<string, unknown> {
    const { type, message, code, info, stackLines, causes } = this;
    return { type, message, code, info, stack: stackLines, causes };
  }
}
