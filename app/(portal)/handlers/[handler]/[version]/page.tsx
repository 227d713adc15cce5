import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { typeOf } from '../../handler-name.ts';
import { startOf } from './messages/start.ts';
import { VersionView } from './version-view.tsx';

interface Props {
  params: Promise<{ handler: string; version: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

async function reference({ params }: Props) {
  const { handler, version } = await params;
  return { handler: decodeURIComponent(handler), version: decodeURIComponent(version) };
}

export async function generateMetadata(props: Props): Promise<Metadata> {
  const { handler, version } = await reference(props);
  return { title: `${handler} ${version}` };
}

/** The page of one version of a handler: draft, published or withdrawn. */
export default async function VersionPage(props: Props) {
  const { t } = await words('packages');
  const asked = await reference(props);
  const api = await portal();
  const first = await orNotFound(api.packages.get(asked));
  // Uses the uploaded spelling, which may differ from the URL's.
  const { handler, version } = first;
  const [resources, overview] = await Promise.all([
    api.resources.get({ handler, version }),
    api.handlers.get({ handler }),
  ]);
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/handlers' },
        { label: typeOf(handler), href: `/handlers/${handler}`, isName: true },
        { label: version, isName: true },
      ]}
    >
      <Words namespaces={['packages', 'localization']}>
        <VersionView first={first} resources={resources} handler={overview} start={startOf(await props.searchParams)} />
      </Words>
    </Page>
  );
}
