-- Partitions are beyond drizzle: what there is becomes the first one, as it stands. db/partitions.ts makes the others.
ALTER TABLE "report_history" RENAME TO "report_history_past";--> statement-breakpoint
ALTER TABLE "report_history_past" DROP CONSTRAINT "report_history_vm_id_vms_id_fk";--> statement-breakpoint
ALTER TABLE "report_history_past" DROP CONSTRAINT "report_history_vm_id_id_pk";--> statement-breakpoint
DROP INDEX "report_history_extension";--> statement-breakpoint
DROP INDEX "report_history_id";--> statement-breakpoint
ALTER TABLE "report_history_past" ALTER COLUMN "id" DROP IDENTITY;--> statement-breakpoint
ALTER TABLE "report_history_past" ALTER COLUMN "document" SET DATA TYPE json USING "document"::json;--> statement-breakpoint
CREATE TABLE "report_history" (
	"vm_id" uuid NOT NULL,
	"id" bigserial NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"kind" text NOT NULL,
	"extension" text NOT NULL,
	"sequence_number" bigint,
	"current" boolean NOT NULL,
	"document" json NOT NULL,
	CONSTRAINT "report_history_vm_id_at_id_pk" PRIMARY KEY("vm_id","at","id")
) PARTITION BY RANGE ("at");--> statement-breakpoint
CREATE INDEX "report_history_id" ON "report_history" USING brin ("id") WITH (autosummarize=true);--> statement-breakpoint
SELECT setval('report_history_id_seq', 1 + greatest(
	(SELECT coalesce(max("id"), 0) FROM "report_history_past"),
	(SELECT coalesce(max("history_id"), 0) FROM "message_cursors")
), false);--> statement-breakpoint
DO $$
DECLARE
	before timestamptz;
BEGIN
	SELECT date_trunc('day', greatest(now(), max("at")), 'UTC') + interval '24 hours' INTO before FROM "report_history_past";
	EXECUTE format('ALTER TABLE "report_history" ATTACH PARTITION "report_history_past" FOR VALUES FROM (MINVALUE) TO (%L)', before);
END
$$;
