'use client';

import { useQuery } from '@tanstack/react-query';
import { ArrowUp, Upload } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Chip, Tag } from '#app/_ui/tag.tsx';
import type { RolloutPage } from '../../rollouts/rollout-data.ts';
import { IdentityAndFacts } from '../identity-and-facts.tsx';
import { NotMine } from '../not-mine.tsx';
import { useMayPublish } from '../publishing-rights.ts';
import { hasOlderOnVms, rollOutAddress } from '../roll-out.ts';
import { filterOfUse, VmsLink } from '../vms-link.tsx';
import { AutomaticCard, type ShownUpgrades } from './automatic-card.tsx';
import { AdoptionCard, UnknownCard } from './handler-cards.tsx';
import type { Handler } from './handler-data.ts';
import { LanguagesCard } from './languages-card.tsx';
import { OpenRollouts } from './open-rollouts.tsx';
import { VersionsCard } from './versions-card.tsx';

// Loaded on demand. The server renders this card, so nothing moves when its script loads.
const FormulaCard = dynamic(() => import('../formula/formula-card.tsx').then((module) => module.FormulaCard));

export interface HandlerViewProps {
  handler: string;
  first: Handler;
  /** Parts that the server has loaded; undefined if it could not read them. */
  open: RolloutPage | undefined;
  automatic: ShownUpgrades | undefined;
}

/** Shows a handler and keeps the data on the page up to date. */
export function HandlerView({ handler, first, open, automatic }: HandlerViewProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const found = useQuery({ ...trpc.handlers.get.queryOptions({ handler }), initialData: first }).data;
  const mayPublish = useMayPublish(found.namespace);
  const published = found.versions.find(({ state }) => state === 'published');
  // The versions are sorted, highest first. A VM has only one version of a handler, so no VM is counted twice.
  const older =
    published === undefined
      ? 0
      : found.versions.slice(found.versions.indexOf(published) + 1).reduce((sum, { vms }) => sum + vms, 0);
  const formula = found.newest?.formula;
  return (
    <>
      <PageHeader
        title={<span translate="no">{found.type}</span>}
        badge={
          formula || published ? (
            <>
              {formula ? <Chip>{t('formula.mark')}</Chip> : null}
              {published ? <Tag>{published.version}</Tag> : null}
            </>
          ) : undefined
        }
        actions={
          <>
            {published && hasOlderOnVms(found.versions, published.version) ? (
              <Button asChild>
                <Link href={rollOutAddress(handler, published.version)}>
                  <ArrowUp aria-hidden />
                  {t('rollOut.act', { version: published.version })}
                </Link>
              </Button>
            ) : null}
            {mayPublish ? (
              <Button asChild variant="primary">
                <Link href={`/publish?handler=${encodeURIComponent(handler)}`}>
                  <Upload aria-hidden />
                  {t('uploadVersion')}
                </Link>
              </Button>
            ) : null}
          </>
        }
      >
        <HandlerFacts handler={found} published={published} older={older} />
      </PageHeader>
      <NotMine namespace={found.namespace} className="mb-4" />
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_352px]">
        <div className="grid min-w-0 gap-4">
          {formula ? (
            <FormulaCard manifest={formula} schema={found.newest?.settingsSchema ?? null} />
          ) : (
            <>
              <AdoptionCard handler={found} />
              <OpenRollouts handler={handler} first={open} />
            </>
          )}
          <VersionsCard handler={found} mayPublish={mayPublish} />
        </div>
        <div className="grid min-w-0 gap-4">
          {formula ? null : <AutomaticCard handler={handler} first={automatic} />}
          {found.newest ? <LanguagesCard handler={found} newest={found.newest} mayPublish={mayPublish} /> : null}
          {formula ? null : <UnknownCard handler={handler} mayPublish={mayPublish} />}
        </div>
      </div>
    </>
  );
}

interface HandlerFactsProps {
  handler: Handler;
  /** The highest published version; undefined if none is published. */
  published: Handler['versions'][number] | undefined;
  /** Number of VMs with a version below `published`. */
  older: number;
}

/** The id, the publisher, the VMs and, for a handler, its properties. */
function HandlerFacts({ handler: found, published, older }: HandlerFactsProps) {
  const { t } = useTranslation('packages');
  const isFormula = found.kind === 'formula';
  const assigned = {
    label: t(isFormula ? 'fact.unitsOn' : 'fact.on'),
    value: found.vms === 0 ? t('fact.noVm') : <VmsLink filter={filterOfUse(found)} vms={found.vms} />,
  };
  const yesNo = (value: boolean) => t(value ? 'yes' : 'no');
  return (
    <IdentityAndFacts
      identity={found.handler}
      items={[
        { label: t('fact.publisher'), value: found.publisher },
        assigned,
        ...(published && older > 0
          ? [
              {
                label: t('fact.older', { version: published.version }),
                value: <VmsLink filter={{ handler: found.handler, olderThan: published.version }} vms={older} />,
              },
            ]
          : []),
        ...(found.newest && !isFormula
          ? [
              { label: t('fact.heartbeat'), value: yesNo(found.newest.reportHeartbeat) },
              { label: t('fact.several'), value: yesNo(found.newest.supportsMultipleExtensions) },
            ]
          : []),
      ]}
    />
  );
}
