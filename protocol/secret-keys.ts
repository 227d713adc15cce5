const secretNames = /password|passwd|secret|token|private.?key|credential/i;

/** Whether the value of a key is masked: the formula lists the key, or its name looks like a secret. */
export function isSecretKey(key: string, masked: readonly string[]): boolean {
  return masked.includes(key) || secretNames.test(key);
}
