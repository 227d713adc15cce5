/** An error that answers a command, such as `KeyError`. The connection can still be used. */
export class AmpError extends Error {
  override readonly name = 'AmpError';
  readonly code: string;

  constructor(code: string, description: string) {
    super(description);
    this.code = code;
  }
}
