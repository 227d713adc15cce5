import { randomBytes } from 'node:crypto';

const ofThisProcess = randomBytes(9).toString('base64url');
let requests = 0;

/** Creates a request id for the log and the response. It is unique, but not secret. */
export function newRequestId(): string {
  requests += 1;
  return `${ofThisProcess}.${requests.toString(36)}`;
}
