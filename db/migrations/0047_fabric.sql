CREATE TABLE "endpoint_traffic" (
	"vm_id" uuid NOT NULL,
	"protocol" text NOT NULL,
	"public_port" integer NOT NULL,
	"connections" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "endpoint_traffic_vm_id_protocol_public_port_pk" PRIMARY KEY("vm_id","protocol","public_port")
);
--> statement-breakpoint
CREATE TABLE "fabric_state" (
	"id" integer PRIMARY KEY NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"faults" jsonb NOT NULL
);
--> statement-breakpoint
ALTER TABLE "cloud_services" ADD COLUMN "provider_due_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "endpoint_traffic" ADD CONSTRAINT "endpoint_traffic_endpoint" FOREIGN KEY ("vm_id","protocol","public_port") REFERENCES "public"."endpoints"("vm_id","protocol","public_port") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "cloud_services_due" ON "cloud_services" USING btree ("provider_due_at") WHERE "cloud_services"."provider_due_at" is not null;