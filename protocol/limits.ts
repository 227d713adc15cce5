/** Default upper bounds within wire documents. The portal passes its configured ones. */
export interface DocumentLimits {
  /** Substatuses of one status, over all levels. */
  substatuses: number;
  /** Levels of substatuses below the status. */
  substatusDepth: number;
  /** Bytes of UTF-8 of a message's text, and of a name or an operation. */
  messageBytes: number;
  /** Bytes of UTF-8 of a param, a message id or a language. */
  paramBytes: number;
  /** Bytes of UTF-8 of a command's output within a report. */
  outputBytes: number;
}

export const documentLimits: DocumentLimits = {
  substatuses: 1_000,
  substatusDepth: 4,
  messageBytes: 16 * 1024,
  paramBytes: 1024,
  outputBytes: 64 * 1024,
};

/** The longest time limit of a command, in seconds: a day. */
export const maxCommandSeconds = 86_400;

const encoder = new TextEncoder();

export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}
