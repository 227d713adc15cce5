import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** Cost parameters of scrypt. Each attempt takes 32 MiB and about 50 ms. */
const cost = { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 };

const derive = (password: string, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, 64, cost, (error, key) => (error ? reject(error) : resolve(key))),
  );

/** Returns the salt and the scrypt key as `<salt>:<key>` in hex. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16).toString('hex');
  return `${salt}:${(await derive(password, salt)).toString('hex')}`;
}

const absentHash = `${'0'.repeat(32)}:${'0'.repeat(128)}`;

/**
 * Whether the password matches. Returns false without a hash (unknown member, no password), but takes as long as with
 * one.
 */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const [salt = '', key = ''] = (hash ?? absentHash).split(':');
  const expected = Buffer.from(key, 'hex');
  const given = await derive(password, salt);
  return given.length === expected.length && timingSafeEqual(given, expected) && hash !== null;
}
