CREATE TABLE "fleet_count_checks" (
	"id" integer PRIMARY KEY NOT NULL,
	"checked_at" timestamp with time zone NOT NULL,
	"disagreed_at" timestamp with time zone,
	"difference" jsonb
);
--> statement-breakpoint
CREATE TABLE "fleet_count_deltas" (
	"what" text NOT NULL,
	"n" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "fleet_counts" (
	"what" text PRIMARY KEY NOT NULL,
	"n" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "vm_health" ADD COLUMN "written_by" "xid8" DEFAULT pg_current_xact_id() NOT NULL;--> statement-breakpoint
CREATE INDEX "vm_health_written" ON "vm_health" USING btree ("written_by");--> statement-breakpoint
INSERT INTO "fleet_counts" ("what", "n") SELECT "health", count(*) FROM "vm_health" GROUP BY "health";--> statement-breakpoint
INSERT INTO "fleet_counts" ("what", "n") SELECT 'extensions', count(*) FROM "extension_health";--> statement-breakpoint
-- Parts of names are found by it; where it is not to be had, they are looked for in all names. Drizzle does not know it.
DO $$
BEGIN
	CREATE EXTENSION IF NOT EXISTS pg_trgm;
	CREATE INDEX "vms_name_parts" ON "vms" USING gin (lower("name") gin_trgm_ops) WHERE "deleted_at" IS NULL;
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE 'pg_trgm: %', SQLERRM;
END
$$;
