import { randomBytes } from 'node:crypto';

const ofThisProcess = randomBytes(9).toString('base64url');
let requests = 0;

/** A new id of a request, for log and answer: unique, not secret. */
export function newRequestId(): string {
  requests += 1;
  return `${ofThisProcess}.${requests.toString(36)}`;
}
