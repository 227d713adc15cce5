import { AgentError, sentenceOf } from '../agent-error.ts';
import { connectBroker } from '../channel/broker.ts';
import type { ExaminedMachine } from './examined-machine.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

/** Checks the connection to the AMQP broker and the queue of plans, if this machine uses AMQP. */
export async function checkBroker({ amqp, executionPlans }: ExaminedMachine): Promise<DoctorFinding[]> {
  const { good, advice, bad } = verdictsOf('broker');
  if (!amqp) return [];
  if (executionPlans === 'off') return [good('Execution plans are off, so no queue is read.')];
  const { host, port, inputQueue } = amqp;
  let connection: Awaited<ReturnType<typeof connectBroker>>;
  try {
    connection = await connectBroker(amqp);
  } catch (error) {
    const what = error instanceof AgentError ? error.message : sentenceOf(error);
    return [bad({ what, toDo: adviceFor(what) })];
  }
  connection.on('error', () => {});
  try {
    const channel = await connection.createChannel();
    channel.on('error', () => {});
    await channel.checkQueue(inputQueue);
    return [good(`The broker ${host}:${port} has the queue ${inputQueue}.`)];
  } catch (error) {
    const toDo = `Bind this VM to AMQP in the portal, with the queue ${inputQueue}, or correct amqpInputQueue.`;
    return [advice({ what: `The queue ${inputQueue} cannot be read: ${sentenceOf(error)}`, toDo })];
  } finally {
    await connection.close().catch(() => {});
  }
}

function adviceFor(what: string): string {
  if (/certificate|self.signed|altname/i.test(what)) {
    return "Check the broker's certificate: its authority (amqpCa), its name (amqpHost) and its expiry date.";
  }
  if (/ACCESS.REFUSED|403/i.test(what)) return 'Check amqpLogin, amqpPasswordFile and amqpVirtualHost.';
  return 'Check amqpHost, amqpPort and amqpTls, and that the broker is running.';
}
