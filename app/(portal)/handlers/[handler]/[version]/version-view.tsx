'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Card } from '#app/_ui/card.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { Num } from '#app/_ui/num.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { platformsText } from '#protocol/platform.ts';
import { namespaceOf, typeOf } from '../../handler-name.ts';
import { IdentityAndFacts } from '../../identity-and-facts.tsx';
import { NotMine } from '../../not-mine.tsx';
import { findingsOf } from '../../package/finding.ts';
import { FindingCount } from '../../package/finding-count.tsx';
import { PackageContents } from '../../package/package-contents.tsx';
import { useMayPublish } from '../../publishing-rights.ts';
import { VersionState } from '../../version-state.tsx';
import type { Start } from './messages/start.ts';
import { PublishAct } from './publish-act.tsx';
import type { Version, VersionResources } from './version-data.ts';
import { VersionMenu } from './version-menu.tsx';

// Below the fold and heavy: fetched when the rest of the page is there.
const MessagesCard = dynamic(() => import('./messages/messages-card.tsx').then((module) => module.MessagesCard), {
  ssr: false,
  loading: () => <WaitingCard rows={6} />,
});
const SchemaCard = dynamic(() => import('./schema-card.tsx').then((module) => module.SchemaCard), {
  ssr: false,
  loading: () => <WaitingCard rows={3} />,
});

export interface VersionViewProps {
  first: Version;
  resources: VersionResources;
  /** VMs that should have this version. */
  vms: number;
  start: Start;
}

/** Package, messages, settings schema and state of a version, as they are now. */
export function VersionView({ first, resources: firstResources, vms, start }: VersionViewProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const { handler, version } = first;
  const found = useQuery({ ...trpc.packages.get.queryOptions({ handler, version }), initialData: first }).data;
  const resources = useQuery({
    ...trpc.resources.get.queryOptions({ handler, version }),
    initialData: firstResources,
  }).data;
  const mayPublish = useMayPublish(namespaceOf(handler));
  const [unsaved, setUnsaved] = useState(false);
  const [unsavedSchema, setUnsavedSchema] = useState(false);
  const [justPublished, setJustPublished] = useState(false);
  const findings = findingsOf('warning', found.warnings);
  return (
    <>
      <PageHeader
        title={<span translate="no">{`${typeOf(handler)} ${version}`}</span>}
        badge={<VersionState state={found.state} className="font-medium" />}
        actions={
          <>
            <FindingCount findings={findings} />
            {mayPublish && found.state === 'draft' ? (
              <PublishAct
                version={found}
                resources={resources}
                unsaved={unsaved}
                unsavedSchema={unsavedSchema}
                onPublished={() => setJustPublished(true)}
              />
            ) : null}
            {mayPublish && found.state !== 'withdrawn' ? (
              <VersionMenu handler={handler} version={version} state={found.state} vms={vms} />
            ) : null}
          </>
        }
      >
        <IdentityAndFacts
          identity={`${handler}-${version}`}
          items={[
            { label: t('fact.size'), value: <Num value={found.size} as="bytes" /> },
            {
              label: t('fact.digest'),
              value: (
                <span className="inline-flex items-center gap-1">
                  <span translate="no" className="mono" title={found.sha256}>
                    {found.sha256.slice(0, 12)}
                  </span>
                  <CopyButton text={found.sha256} label={t('fact.copyDigest')} className="-my-1" />
                </span>
              ),
            },
            {
              label: t('fact.uploaded'),
              value: (
                <>
                  <DateTime value={new Date(found.createdAt)} /> {t('fact.by', { who: found.createdBy })}
                </>
              ),
            },
            ...(found.platforms.length > 0
              ? [{ label: t('fact.platforms'), value: <span translate="no">{platformsText(found.platforms)}</span> }]
              : []),
            ...(found.publishedAt
              ? [{ label: t('fact.published'), value: <DateTime value={new Date(found.publishedAt)} /> }]
              : []),
          ]}
        />
      </PageHeader>
      <NotMine namespace={namespaceOf(handler)} className="mb-4" />
      <div className="grid gap-4">
        {justPublished && found.state === 'published' ? (
          <Banner status="healthy" boxed>
            <Trans
              text={t('published.next')}
              tags={{ vms: <TextLink href="/vms" />, handler: <TextLink href={`/handlers/${handler}`} /> }}
            />
          </Banner>
        ) : null}
        {found.state === 'withdrawn' ? (
          <Banner status="disabled" boxed>
            {t('withdrawn.why', { reason: found.withdrawnReason ?? '' })}
          </Banner>
        ) : null}
        {found.isDamaged ? (
          <Banner status="failed" boxed>
            {t('damaged')}
          </Banner>
        ) : null}
        <PackageContents
          files={found.files}
          manifestText={found.manifestText}
          findings={findings}
          leftOut={found.leftOut?.files}
        />
        <div id="messages" className="min-w-0 scroll-mt-16">
          <MessagesCard
            handler={handler}
            version={version}
            resources={resources}
            mayEdit={mayPublish}
            onUnsaved={setUnsaved}
            start={start}
          />
        </div>
        <SchemaCard
          handler={handler}
          version={version}
          schema={found.settingsSchema}
          mayEdit={mayPublish && found.state === 'draft'}
          isDraft={found.state === 'draft'}
          onUnsaved={setUnsavedSchema}
        />
      </div>
    </>
  );
}

/** Takes the place of a card whose script is on its way. */
function WaitingCard({ rows }: { rows: number }) {
  const { t } = useTranslation('common');
  return (
    <Card>
      <div className="h-11" />
      <SkeletonRows label={t('loading')} columns={['w-24', 'w-64', 'w-64']} rows={rows} />
    </Card>
  );
}
