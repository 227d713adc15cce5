/** Methods that the stock agent uses. */
const methods = ['GET', 'HEAD', 'POST', 'PUT'];

/**
 * Returns why a request is rejected, or null. Rejects unusual paths, because a proxy could normalize such a path into a
 * path outside the VM's part of the gateway.
 */
export function faultOf(method: string, path: string): { status: 400 | 405; sentence: string } | null {
  if (!methods.includes(method)) return { status: 405, sentence: `The forwarder does not relay ${method} requests.` };
  if (!path.startsWith('/')) return { status: 400, sentence: 'The path must begin with a slash.' };
  const [beforeQuery = ''] = path.split('?', 1);
  const isPlain = !/[\\#]|%2f|%5c/i.test(beforeQuery) && !/\/(\.|%2e){1,2}(\/|$)/i.test(beforeQuery);
  return isPlain
    ? null
    : { status: 400, sentence: 'The path must not contain dot segments, backslashes or encoded slashes.' };
}

/**
 * Whether a request is for the goal state. The forwarder keeps the last good goal state, because without a response the
 * stock agent would stop and start again.
 */
export function isGoalState(method: string, path: string): boolean {
  return method === 'GET' && /^\/machine\/?\?comp=goalstate$/i.test(path);
}
