import { randomBytes } from 'node:crypto';

const ofThisProcess = randomBytes(9).toString('base64url');
let requests = 0;

/** A new id under which a request is logged and answered: unlike all others, and not a secret. */
export function newRequestId(): string {
  requests += 1;
  return `${ofThisProcess}.${requests.toString(36)}`;
}
