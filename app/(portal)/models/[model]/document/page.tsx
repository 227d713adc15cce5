import type { Metadata } from 'next';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { modelHref } from '../../model-data.ts';
import { DocumentPage } from './document-page.tsx';

interface Props {
  params: Promise<{ model: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const [{ t }, { name }] = await Promise.all([words('services'), read((await params).model)]);
  return { title: t('document.of', { model: name }) };
}

/** A model as one document, with the plan of its changes. */
export default async function DocumentRoute({ params }: Props) {
  const [models, services, { model: name }] = await Promise.all([words('models'), words('services'), params]);
  const first = await read(name);
  const input = { model: first.name };
  const calls = await portal();
  const [document, listed] = await Promise.all([
    // Only operators may read the document. If it cannot be read, its card says so.
    calls.models.document(input).catch(() => undefined),
    calls.services.list(input).catch(() => undefined),
  ]);
  return (
    <Page
      crumbs={[
        { label: models.t('title'), href: '/models' },
        { label: first.name, isName: true, href: modelHref(first.name) },
        { label: services.t('document.title') },
      ]}
    >
      <Words namespaces={['models', 'services', 'reports']}>
        <DocumentPage
          key={first.name}
          first={first}
          document={document}
          services={listed?.items.length}
          readAt={Date.now()}
        />
      </Words>
    </Page>
  );
}

const read = cache(async (name: string) =>
  orNotFound((await portal()).models.get({ model: decodeURIComponent(name).slice(0, 100) })),
);
