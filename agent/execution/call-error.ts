/** An error of a call, which the Body sees as an exception of `type`. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly type: string;
  /** The error code of the execution if the Body does not catch the exception. */
  readonly code: number;
  readonly info: unknown;
  /** The stack and the causes in another process, such as that of a Python script. */
  readonly stackLines: string[];
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

  /** The exception as a frame for the Body. */
  get frame(): Record<string, unknown> {
    const { type, message, code, info, stackLines, causes } = this;
    return { type, message, code, info, stack: stackLines, causes };
  }
}
