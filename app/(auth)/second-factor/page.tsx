import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { openPortal, reader } from '#app/_lib/portal.ts';
import { safeNext } from '#app/_lib/sign-in.ts';
import { DataProvider } from '#app/_lib/trpc.tsx';
import { Stage } from '#app/_shell/stage.tsx';
import { FirstFactor } from './first-factor.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('account');
  return { title: t('first.title') };
}

interface SecondFactorPageProps {
  searchParams: Promise<{ next?: string | string[] }>;
}

/** Sets up a second factor if the portal requires one and the account has none. */
export default async function SecondFactorPage({ searchParams }: SecondFactorPageProps) {
  const { next: wish } = await searchParams;
  const next = safeNext(typeof wish === 'string' ? wish : undefined);
  const actor = await reader();
  if (actor === null) redirect('/sign-in');
  if (actor.role !== null) redirect(next);
  const account = await (await openPortal()).account.get();
  return (
    <Stage>
      <Words namespaces={['auth', 'account']}>
        <DataProvider>
          <FirstFactor account={account} next={next} />
        </DataProvider>
      </Words>
    </Stage>
  );
}
