import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** 16 MiB and some 50 ms a try: what OWASP asks of scrypt at the least, twice over. */
const cost = { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 };

const derive = (password: string, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, 64, cost, (error, key) => (error ? reject(error) : resolve(key))),
  );

/** `<salt>:<key>` in hex, made by scrypt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16).toString('hex');
  return `${salt}:${(await derive(password, salt)).toString('hex')}`;
}

const nobodys = `${'0'.repeat(32)}:${'0'.repeat(128)}`;

/** Whether it is the password. Without a hash (unknown person, no password) it takes the same time and is not. */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const [salt = '', key = ''] = (hash ?? nobodys).split(':');
  const expected = Buffer.from(key, 'hex');
  const given = await derive(password, salt);
  return given.length === expected.length && timingSafeEqual(given, expected) && hash !== null;
}
