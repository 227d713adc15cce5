/** What the stock agent asks with. */
const methods = ['GET', 'HEAD', 'POST', 'PUT'];

/**
 * Why a request is not relayed, or null. A path that is not plain could leave the VM's own part of the gateway once
 * somebody on the way tidies it up.
 */
export function faultOf(method: string, path: string): { status: 400 | 405; sentence: string } | null {
  if (!methods.includes(method)) return { status: 405, sentence: `${method} is nothing that is relayed.` };
  if (!path.startsWith('/')) return { status: 400, sentence: 'The path must begin with a slash.' };
  const [beforeQuery = ''] = path.split('?', 1);
  const isPlain = !/[\\#]|%2f|%5c/i.test(beforeQuery) && !/\/(\.|%2e){1,2}(\/|$)/i.test(beforeQuery);
  return isPlain ? null : { status: 400, sentence: 'The path must be plain, without steps upwards.' };
}

/** The question whose last good answer is remembered: without an answer the agent would end its work and begin anew. */
export function isGoalState(method: string, path: string): boolean {
  return method === 'GET' && /^\/machine\/?\?comp=goalstate$/i.test(path);
}
