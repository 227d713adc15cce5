import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { HandlerView } from './handler-view.tsx';

interface Props {
  params: Promise<{ handler: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodeURIComponent((await params).handler) };
}

/** One handler: its versions, their VMs, and the coverage of each language. */
export default async function HandlerPage({ params }: Props) {
  const { t } = await words('packages');
  const handler = decodeURIComponent((await params).handler);
  const first = await orNotFound((await portal()).handlers.get({ handler }));
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/handlers' },
        { label: first.type, isName: true },
      ]}
    >
      <Words namespaces={['packages']}>
        <HandlerView handler={handler} first={first} />
      </Words>
    </Page>
  );
}
