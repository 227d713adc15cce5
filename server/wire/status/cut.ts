/** Truncates a text to a number of UTF-8 bytes, without splitting a character. */
export function cutTo(bytes: number, text: string): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes)).replace(/\ufffd+$/, '');
}
