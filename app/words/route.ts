import { bundlesOf } from '#app/_lib/i18n/catalog.ts';
import { namespaces } from '#app/_lib/i18n/namespaces.ts';
import { currentLanguage } from '#app/_lib/i18n/server.ts';
import { reader } from '#app/_lib/portal.ts';

/** Returns the texts of the namespaces in `?of=`, in the reader's language, for parts of a page that load later. */
export async function GET(request: Request): Promise<Response> {
  const who = await reader();
  if ((who?.role ?? null) === null) return Response.json(null, { status: 401 });
  const asked = new URL(request.url).searchParams.getAll('of');
  const known = namespaces.filter((namespace) => asked.includes(namespace));
  const bundles = bundlesOf(await currentLanguage(), known);
  return Response.json(bundles, { headers: { 'cache-control': 'private, max-age=60' } });
}
