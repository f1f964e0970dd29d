# Builds with the legacy builder too. The base is an argument; './build.sh
# docker' makes one with debootstrap where none can be pulled.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
ARG OTP=
ARG VM=all
ENV LANG=C.UTF-8 ERTSLAB_CACHE=/var/cache/ertslab
WORKDIR /opt/ertslab
COPY build.sh ./
COPY scripts scripts
RUN ./build.sh deps
# Only what shapes OTP comes first, so that a change elsewhere does not build it again.
COPY otp_patches otp_patches
RUN ./build.sh otp ${OTP:+--otp ${OTP}} --vm ${VM} --interpreter stock,prefetch && ./build.sh verify
COPY nif nif
COPY c_src c_src
COPY bench bench
COPY erl_src erl_src
COPY ertslab LICENSE README.md ./
RUN ./build.sh native && ./build.sh erl
LABEL ertslab.stage=build

FROM ${BASE}
ARG REVISION=unknown
LABEL org.opencontainers.image.title="ertslab" \
      org.opencontainers.image.description="Stock and patched Erlang VMs side by side, and an honest comparison of them" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${REVISION}"
ENV LANG=C.UTF-8
WORKDIR /opt/ertslab
COPY build.sh ./
COPY scripts scripts
RUN ./build.sh deps --runtime && rm -rf build /var/lib/apt/lists/*
COPY --from=build /opt/ertslab /opt/ertslab
RUN useradd --create-home ertslab && install -d -o ertslab results
USER ertslab
ENTRYPOINT ["/opt/ertslab/ertslab"]
CMD ["--help"]
