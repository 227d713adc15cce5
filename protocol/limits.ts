/** Limits on parts of wire documents. The portal passes its configured limits. */
export interface DocumentLimits {
  /** Maximum number of substatuses in one status, over all levels. */
  substatuses: number;
  /** Maximum number of levels of substatuses below the status. */
  substatusDepth: number;
  /** Maximum size of a message text, a name or an operation, in UTF-8 bytes. */
  messageBytes: number;
  /** Maximum size of a param, a message id or a language, in UTF-8 bytes. */
  paramBytes: number;
  /** Maximum size of command output within a report, in UTF-8 bytes. */
  outputBytes: number;
}

export const documentLimits: DocumentLimits = {
  substatuses: 1_000,
  substatusDepth: 4,
  messageBytes: 16 * 1024,
  paramBytes: 1024,
  outputBytes: 64 * 1024,
};

/** The longest timeout of a command: a day, in seconds. */
export const maxCommandSeconds = 86_400;

const encoder = new TextEncoder();

export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}
