import type { ServiceAct } from '../service-acts.ts';
import type { ShownService } from '../service-data.ts';
import type { ServiceNeed } from './service-needs.ts';
import type { useRunAgain } from './use-run-again.ts';

/** What the lines of needs get from their card. */
export interface NeedProps<Kind extends ServiceNeed['kind'] = ServiceNeed['kind']> {
  need: Extract<ServiceNeed, { kind: Kind }>;
  model: string;
  /** The service that the page shows; undefined for another page. */
  page?: string | undefined;
  services: readonly ShownService[];
  may: boolean;
  runAgain: ReturnType<typeof useRunAgain>;
  onAct(act: ServiceAct): void;
}
